#include "actors/session_outcome.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

message numbered(message_id id) {
  message result;
  result.id = id;
  return result;
}

resolved_options usual() {
  return resolve({}, consumer_config{}.with_defaults());
}

template <class T>
outcome thrown(T what) {
  try {
    throw what;
  } catch (...) {
    return from_exception();
  }
}

struct unusual {};

} // namespace

TEST_CASE("whatever a handler throws is an outcome", "[session_outcome]") {
  CHECK(thrown(std::runtime_error{"no luck"}) == retry("no luck"));
  CHECK(thrown(permanent_failure{"broken"}) == dead("broken"));
  CHECK(thrown(42) == retry("the handler threw an exception of type int"));
  CHECK(thrown(unusual{}).kind == outcome_kind::retry);
  CHECK(thrown("text").kind == outcome_kind::retry);
}

TEST_CASE("a handler cannot answer for the library", "[session_outcome]") {
  outcome deferred;
  deferred.kind = outcome_kind::deferred;
  CHECK(from_handler(deferred).kind == outcome_kind::retry);
  CHECK_FALSE(from_handler(deferred).error.empty());
  CHECK(from_handler(done()) == done());
  CHECK(from_handler(delay(3s)) == delay(3s));
}

SCENARIO("first runs are recorded by the table of attempts",
         "[session_outcome]") {
  auto subject = numbered(7);
  subject.message_key = "k";

  CHECK_FALSE(record_first_run(subject, done(), usual(), 5s));

  WHEN("it failed") {
    const auto entry = record_first_run(subject, retry("why"), usual(), 5s);
    REQUIRE(entry);
    CHECK(entry->id == 7);
    CHECK(entry->message_key == "k");
    CHECK(entry->error == "why");
    CHECK(entry->change.status == exception_status::ready);
    CHECK(entry->change.attempts == 1);
    CHECK(entry->change.run_after == 5s);
  }
  WHEN("it is hopeless") {
    const auto entry = record_first_run(subject, dead("no"), usual(), 5s);
    CHECK(entry->change.status == exception_status::dead);
    CHECK(entry->change.attempts == 0);
  }
  WHEN("its error text cannot be stored as it is") {
    const auto entry = record_first_run(
      subject,
      retry(std::string{"a\0b", 3} + "\xC3\x28" + std::string(5'000'000, 'x')),
      usual(), 5s);
    THEN("it is made storable") {
      CHECK(entry->error.size() <= 8192);
      CHECK(entry->error.find('\0') == std::string::npos);
    }
  }
}

SCENARIO("later runs are recorded by the table of attempts",
         "[session_outcome]") {
  claimed_exception claimed;
  claimed.token = "token";
  claimed.attempts = 1;
  claimed.message = numbered(7);

  const auto success = record_later_run(claimed, done(), usual(), 5s);
  CHECK(success.id == 7);
  CHECK(success.token == "token");
  CHECK_FALSE(success.change.keeps_row);

  const auto again = record_later_run(claimed, retry("x"), usual(), 5s);
  CHECK(again.change.attempts == 2);
  CHECK(again.change.run_after == 1s);

  claimed.attempts = 3;
  const auto last = record_later_run(claimed, retry("x"), usual(), 5s);
  CHECK(last.change.status == exception_status::dead);
  CHECK(last.change.attempts == 3);
}

TEST_CASE("the store is told the group's bounds", "[session_outcome]") {
  consumer_config group;
  CHECK(bounds_of(group.with_defaults()).max_retries == 3);
  CHECK(bounds_of(group.with_defaults()).maximum == 3);
  group.message.retry = retry_policy{.max_retries = 5};
  group.message_min.retry = retry_policy{.max_retries = 2};
  group.message_max.retry = retry_policy{.max_retries = 9};
  const auto bounds = bounds_of(group.with_defaults());
  CHECK(bounds.max_retries == 5);
  CHECK(bounds.minimum == 2);
  CHECK(bounds.maximum == 9);
}

TEST_CASE("only a keyed policy with a key needs a gate", "[session_outcome]") {
  auto subject = numbered(1);
  auto options = usual();
  CHECK_FALSE(needs_key_gate(subject, options));
  options.policy = concurrency::ordered;
  CHECK_FALSE(needs_key_gate(subject, options));
  subject.message_key = "k";
  CHECK(needs_key_gate(subject, options));
}
