#include "config/attempts.hpp"

#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

using namespace sqlstreams;
using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;
using enum outcome_kind;

namespace {

constexpr auto most = std::numeric_limits<std::int64_t>::max();

/// One message's way through its runs, written down as `status:attempt`.
class ledger {
public:
  explicit ledger(attempt_policy policy) : policy_{policy} {}

  ledger& run(outcome_kind outcome, ns delay = 7s) {
    note(fresh_ ? first_run(outcome, policy_, delay)
                : later_run(counters_, outcome, policy_, delay));
    return *this;
  }

  /// The holder vanished; the next claim finds the expired lease.
  ledger& crash() {
    note(expired_claim(counters_, policy_));
    return *this;
  }

  std::string text;
  std::vector<ns> waits; ///< after failures
  exception_change last;

private:
  void note(const exception_change& change) {
    fresh_ = false;
    counters_ = {change.attempts, change.delays};
    text += (text.empty() ? "" : " ") + std::string(to_string(change.history))
            + ":" + std::to_string(change.history_attempt);
    if (change.history == history_kind::failure
        && change.status == exception_status::ready)
      waits.push_back(change.run_after);
    last = change;
  }

  attempt_policy policy_;
  attempt_counters counters_;
  bool fresh_ = true;
};

attempt_policy policy(int max_retries, int max_delays = 0) {
  return {{max_retries, max_delays, 1s, 5min, 2}, 5s};
}

} // namespace

TEST_CASE("attempts: a delay, failures and crashes share one budget",
          "[attempts]") {
  ledger story{policy(3)};
  story.run(delay).run(retry).run(retry).crash().crash();
  CHECK(story.text == "delayed:0 failure:1 failure:2 expired:3 killed:4");
  CHECK(story.last.status == exception_status::dead);
}

TEST_CASE("attempts: delays spend nothing of the budget", "[attempts]") {
  ledger story{policy(1)};
  story.run(retry).run(delay).run(delay).run(delay).run(retry);
  CHECK(story.text == "failure:0 delayed:1 delayed:2 delayed:3 failure:4");
  CHECK(story.last.status == exception_status::dead);
  CHECK(story.last.attempts == 4);
  CHECK(story.last.delays == 3);
}

TEST_CASE("attempts: crashes alone kill in the end", "[attempts]") {
  // The message came into the queue unrun.
  attempt_counters now;
  std::string text;
  for (int i = 0; i < 3; ++i) {
    const auto change = expired_claim(now, policy(2));
    text += std::string(to_string(change.history)) + ":"
            + std::to_string(change.history_attempt) + " ";
    now = {change.attempts, change.delays};
  }
  CHECK(text == "expired:0 expired:1 killed:2 ");
}

TEST_CASE("attempts: without retries one crash is the end", "[attempts]") {
  ledger story{policy(0)};
  story.run(deferred).run(delay).run(delay).crash();
  CHECK(story.text == "deferred:0 delayed:0 delayed:1 killed:2");
}

TEST_CASE("attempts: a poison message runs four times by default",
          "[attempts]") {
  ledger story{policy(3)};
  story.run(retry).run(retry).run(retry).run(retry);
  CHECK(story.text == "failure:0 failure:1 failure:2 failure:3");
  CHECK(story.waits == std::vector<ns>{5s, 1s, 2s});
  CHECK(story.last.status == exception_status::dead);
}

TEST_CASE("attempts: delays and deferrals never move the curve", "[attempts]") {
  ledger story{{{9, 0, 1s, 3s, 2}, 60s}};
  for (int i = 0; i < 5; ++i)
    story.run(deferred).run(delay).run(retry);
  CHECK(story.waits == std::vector<ns>{60s, 1s, 2s, 3s, 3s});
}

TEST_CASE("attempts: the first run's table", "[attempts]") {
  const auto p = policy(3);
  CHECK_FALSE(first_run(done, p).keeps_row);
  CHECK(first_run(done, p).history == history_kind::success);
  CHECK_FALSE(first_run(superseded, p).keeps_row);
  CHECK(first_run(superseded, p).history == history_kind::superseded);
  CHECK(first_run(retry, p)
        == exception_change{true, exception_status::ready, 1, 0, 5s,
                            history_kind::failure, 0});
  CHECK(first_run(dead, p)
        == exception_change{true, exception_status::dead, 0, 0, 0s,
                            history_kind::failure, 0});
  CHECK(first_run(deferred, p)
        == exception_change{true, exception_status::deferred, 0, 0, 0s,
                            history_kind::deferred, 0});
  CHECK(first_run(delay, p, 9s)
        == exception_change{true, exception_status::ready, 1, 1, 9s,
                            history_kind::delayed, 0});
  CHECK(first_run(delay, p, -9s).run_after == 0s);
}

TEST_CASE("attempts: a later run's table", "[attempts]") {
  const auto p = policy(3, 2);
  const attempt_counters now{2, 1};
  CHECK_FALSE(later_run(now, done, p).keeps_row);
  CHECK(later_run(now, done, p).history_attempt == 2);
  CHECK_FALSE(later_run(now, superseded, p).keeps_row);
  CHECK(later_run(now, deferred, p)
        == exception_change{true, exception_status::deferred, 2, 1, 0s,
                            history_kind::deferred, 2});
  CHECK(later_run(now, dead, p)
        == exception_change{true, exception_status::dead, 2, 1, 0s,
                            history_kind::failure, 2});
  CHECK(later_run(now, delay, p, 9s)
        == exception_change{true, exception_status::ready, 3, 2, 9s,
                            history_kind::delayed, 2});
  // Beyond max_delays.
  CHECK(later_run({3, 2}, delay, p, 9s)
        == exception_change{true, exception_status::dead, 3, 2, 0s,
                            history_kind::failure, 3});
}

TEST_CASE("attempts: an expired lease costs an attempt", "[attempts]") {
  CHECK(expired_claim({1, 0}, policy(3))
        == exception_change{true, exception_status::inflight, 2, 0, 0s,
                            history_kind::expired, 1});
  CHECK(expired_claim({3, 0}, policy(3)).status == exception_status::dead);
}

TEST_CASE("attempts: a lowered budget catches waiting rows", "[attempts]") {
  CHECK_FALSE(over_budget({3, 0}, 3));
  CHECK(over_budget({4, 0}, 3));
  CHECK_FALSE(over_budget({4, 1}, 3));
}

TEST_CASE("attempts: no count overflows", "[attempts]") {
  for (std::int64_t count :
       {std::int64_t{2147483647}, std::int64_t{2147483648}, most - 1, most}) {
    for (auto outcome : {done, retry, dead, delay, deferred, superseded}) {
      for (std::int64_t delays : {std::int64_t{0}, count}) {
        const auto change =
          later_run({count, delays}, outcome, policy(2147483647), ns::max());
        CHECK(change.attempts >= count);
        CHECK(change.delays >= delays);
        CHECK(change.run_after >= 0s);
        CHECK(change.run_after < 24h * 365 * 101);
      }
    }
    CHECK(expired_claim({count, count}, policy(3)).attempts >= count);
  }
}

TEST_CASE("attempts: the words for outcomes read back", "[attempts]") {
  for (auto kind : {done, retry, dead, delay, deferred, superseded})
    CHECK(parse_outcome_kind(to_string(kind)) == kind);
  for (auto status : {exception_status::ready, exception_status::inflight,
                      exception_status::deferred, exception_status::dead})
    CHECK(parse_exception_status(to_string(status)) == status);
  for (auto kind :
       {history_kind::success, history_kind::failure, history_kind::delayed,
        history_kind::deferred, history_kind::superseded, history_kind::expired,
        history_kind::killed})
    CHECK(parse_history_kind(to_string(kind)) == kind);
  CHECK_FALSE(parse_history_kind("gone"));
}
