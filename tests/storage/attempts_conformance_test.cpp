// The arithmetic of design page 09 and its ledgers, driven through a store.

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

namespace {

/// Drives the stream's message 1 through runs and crashes, always due at once.
class ledger {
public:
  ledger(store_fixture& fixture, int max_retries, int max_delays = 0)
    : fixture_{fixture}, policy_{retries(max_retries, max_delays)} {
    budget_.max_retries = max_retries;
    fixture.produce(1);
  }

  void first(outcome_kind kind) {
    const auto range = *fixture_.claim().claimed;
    exception_entry entry;
    entry.id = 1;
    entry.change = at_once(first_run(kind, policy_));
    entry.error = "e";
    fixture_.finish(range, {entry});
  }

  void run(outcome_kind kind) {
    const auto claimed = claim(long_lease);
    exception_settlement settlement;
    settlement.id = 1;
    settlement.token = claimed.token;
    settlement.change =
      at_once(later_run({claimed.attempts, claimed.delays}, kind, policy_));
    settlement.error = "e";
    fixture_.settle(settlement);
  }

  /// A run whose holder vanishes: its lease is over at once.
  void crash() { claim(0s); }

  /// What is left in the end: nobody may run it, one pass kills it.
  void expect_kill() {
    CHECK_FALSE(claimable());
    CHECK(kill() == ids{1});
    CHECK(kill().empty());
    CHECK(fixture_.exceptions().at(0).status == exception_status::dead);
  }

  ids kill() { return fixture_.kill_exhausted(budget_); }

  claimed_exception claim(std::chrono::nanoseconds lease) {
    auto claimed = fixture_.claim_exceptions(1, lease, budget_).claimed;
    REQUIRE(claimed.size() == 1);
    return claimed[0];
  }

  bool claimable() {
    return !fixture_.claim_exceptions(1, long_lease, budget_).claimed.empty();
  }

  /// @returns whether the history is this, or none where none is kept
  bool reads(const std::string& expected) {
    const bool kept = fixture_.history != delivery_log_mode::off;
    return fixture_.history_of(1) == (kept ? expected : "");
  }

  attempt_policy& policy() { return policy_; }
  std::vector<std::chrono::nanoseconds> waits; ///< of failures

private:
  exception_change at_once(exception_change change) {
    if (change.history == history_kind::failure)
      waits.push_back(change.run_after);
    change.run_after = {};
    return change;
  }

  store_fixture& fixture_;
  attempt_policy policy_;
  budget_bounds budget_;
};

delivery_log_mode each_log_mode() {
  return GENERATE(delivery_log_mode::failures, delivery_log_mode::all,
                  delivery_log_mode::off);
}

} // namespace

TEMPLATE_TEST_CASE("success deletes the row", "[store][exceptions]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();
  ledger one{fixture, 3};
  one.first(outcome_kind::retry);
  one.run(outcome_kind::done);
  CHECK(fixture.exceptions().empty());
  CHECK(fixture.lag().committed == 1);
  const bool all = fixture.history == delivery_log_mode::all;
  CHECK(one.reads(all ? "failure:0 success:1" : "failure:0"));
}

TEMPLATE_TEST_CASE("attempts: delays, failures and crashes in turn",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();

  SECTION("R 3: one delay, failures, a crash at the third, one at the fourth") {
    ledger one{fixture, 3};
    one.first(outcome_kind::delay);
    one.run(outcome_kind::retry);
    one.run(outcome_kind::retry);
    one.crash();
    CHECK(one.kill().empty()); // the last retry is still to come
    one.crash();
    one.expect_kill();
    CHECK(one.reads("delayed:0 failure:1 failure:2 expired:3 killed:4"));
  }
  SECTION("R 1: a failure, three delays, a failure") {
    ledger one{fixture, 1};
    one.first(outcome_kind::retry);
    for (int i = 0; i < 3; ++i)
      one.run(outcome_kind::delay);
    one.run(outcome_kind::retry);
    CHECK(one.reads("failure:0 delayed:1 delayed:2 delayed:3 failure:4"));
    const auto row = fixture.exceptions().at(0);
    CHECK(row.status == exception_status::dead);
    CHECK(row.attempts == 4);
    CHECK(row.delays == 3);
  }
  SECTION("R 2: only crashes of exception runs") {
    ledger one{fixture, 2};
    one.first(outcome_kind::deferred);
    for (int i = 0; i < 3; ++i)
      one.crash();
    one.expect_kill();
    CHECK(one.reads("deferred:0 expired:0 expired:1 killed:2"));
    const auto row = fixture.exceptions().at(0);
    CHECK(row.attempts == 2);
    // What went wrong before is not lost.
    CHECK(row.last_error.size() > 2);
    CHECK(row.last_error.substr(0, 1) == "e");
  }
  SECTION("R 0: deferred first, two delays, a crash") {
    ledger one{fixture, 0};
    one.first(outcome_kind::deferred);
    one.run(outcome_kind::delay);
    one.run(outcome_kind::delay);
    one.crash();
    one.expect_kill();
    CHECK(one.reads("deferred:0 delayed:0 delayed:1 killed:2"));
  }
  SECTION("R 3: a plain poison message runs four times") {
    ledger one{fixture, 3};
    one.first(outcome_kind::retry);
    for (int i = 0; i < 3; ++i)
      one.run(outcome_kind::retry);
    CHECK_FALSE(one.claimable());
    CHECK(one.reads("failure:0 failure:1 failure:2 failure:3"));
    CHECK(one.waits == std::vector<std::chrono::nanoseconds>{5s, 1s, 2s, 0s});
    CHECK(fixture.exceptions().at(0).status == exception_status::dead);
  }
  SECTION("R 9: delays and deferrals never move the curve") {
    ledger one{fixture, 9};
    one.policy().initial_backoff = 60s;
    one.policy().retry.max_delay = 3s;
    one.first(outcome_kind::deferred);
    for (int i = 0; i < 5; ++i) {
      one.run(outcome_kind::delay);
      one.run(outcome_kind::deferred);
      one.run(outcome_kind::retry);
    }
    CHECK(one.waits
          == std::vector<std::chrono::nanoseconds>{60s, 1s, 2s, 3s, 3s});
    CHECK(fixture.exceptions().at(0).attempts == 10);
    CHECK(fixture.exceptions().at(0).delays == 5);
  }
}

TEMPLATE_TEST_CASE("attempts: the first run sets the counters",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();
  ledger one{fixture, 3};
  const auto first = [&](outcome_kind kind) {
    one.first(kind);
    return fixture.exceptions();
  };
  SECTION("done") { CHECK(first(outcome_kind::done).empty()); }
  SECTION("failure") {
    const auto row = first(outcome_kind::retry).at(0);
    CHECK(row.attempts == 1);
    CHECK(row.delays == 0);
    CHECK(one.reads("failure:0"));
  }
  SECTION("dead") {
    const auto row = first(outcome_kind::dead).at(0);
    CHECK(row.attempts == 0);
    CHECK(row.delays == 0);
    CHECK(one.reads("failure:0"));
  }
  SECTION("deferred") {
    const auto row = first(outcome_kind::deferred).at(0);
    CHECK(row.attempts == 0);
    CHECK(row.delays == 0);
    CHECK(one.reads("deferred:0"));
  }
  SECTION("delay") {
    const auto row = first(outcome_kind::delay).at(0);
    CHECK(row.attempts == 1);
    CHECK(row.delays == 1);
    CHECK(one.reads("delayed:0"));
  }
  SECTION("superseded") {
    CHECK(first(outcome_kind::superseded).empty());
    CHECK(one.reads("superseded:0"));
  }
}

TEMPLATE_TEST_CASE("attempts: the last retry can be claimed, not taken over",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();
  ledger one{fixture, 1};
  one.first(outcome_kind::retry);
  one.crash(); // it was claimable
  one.expect_kill();
  CHECK(one.reads("failure:0 killed:1"));
}

TEMPLATE_TEST_CASE("attempts: a delay can follow the last retry",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();
  SECTION("without a cap of delays") {
    ledger one{fixture, 1};
    one.first(outcome_kind::retry);
    one.run(outcome_kind::delay);
    one.run(outcome_kind::delay);
    CHECK(one.reads("failure:0 delayed:1 delayed:2"));
    CHECK(one.claim(long_lease).attempts == 3);
  }
  SECTION("up to the cap") {
    ledger one{fixture, 1, 1};
    one.first(outcome_kind::retry);
    one.run(outcome_kind::delay);
    one.run(outcome_kind::delay);
    CHECK(one.reads("failure:0 delayed:1 failure:2"));
    CHECK(fixture.exceptions().at(0).status == exception_status::dead);
  }
}

TEMPLATE_TEST_CASE("attempts: a deferred message starts at 0 and stays there",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history = each_log_mode();
  ledger one{fixture, 3};
  one.first(outcome_kind::deferred);
  one.run(outcome_kind::deferred);
  one.run(outcome_kind::deferred);
  CHECK(one.claim(long_lease).attempts == 0);
  CHECK(one.reads("deferred:0 deferred:0 deferred:0"));
}

TEMPLATE_TEST_CASE("attempts: a live run is left alone", "[store][attempts]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  ledger one{fixture, 1};
  one.first(outcome_kind::retry);
  one.claim(1h);
  CHECK_FALSE(one.claimable());
  CHECK(one.kill().empty());
  CHECK(fixture.exceptions().at(0).attempts == 1);
}

TEMPLATE_TEST_CASE("attempts: a lowered budget ends rows that are over it",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  ledger one{fixture, 5};
  one.first(outcome_kind::retry);
  one.run(outcome_kind::retry);
  one.run(outcome_kind::retry);

  const budget_bounds lowered{.max_retries = 1};
  CHECK(fixture.claim_exceptions(1, 1h, lowered).claimed.empty());
  CHECK(fixture.kill_exhausted(lowered) == ids{1});
  CHECK(fixture.exceptions().at(0).status == exception_status::dead);
  CHECK(fixture.history_of(1) == "failure:0 failure:1 failure:2 killed:3");
}

TEMPLATE_TEST_CASE("attempts: a message's own budget counts within bounds",
                   "[store][attempts]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.store.produce(
    fixture.stream.id,
    {{.payload = "1", .options = {.retry = retry_policy{.max_retries = 1}}}});
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  fixture.claim_exceptions(1, 0s);
  CHECK(fixture.kill_exhausted({.max_retries = 9, .minimum = 2}).empty());
  CHECK(fixture.kill_exhausted({.max_retries = 9}) == ids{1});
}

TEMPLATE_TEST_CASE("attempts: counters are per group", "[store][attempts]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  fixture.use_group("shipping", {});
  CHECK(fixture.exceptions().empty());
  fixture.finish(*fixture.claim().claimed,
                 {first_failure(1, outcome_kind::deferred)});
  CHECK(fixture.exceptions().at(0).attempts == 0);
  CHECK(fixture.history_of(1) == "deferred:0");
}
