// The cursor's `committed`: design page 07, "Waterline".

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("committed stops at the lowest unresolved message",
                   "[store][committed]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(6);
  const auto low = *fixture.claim(2).claimed;
  const auto high = *fixture.claim(4).claimed;

  CHECK(
    fixture
      .finish(high, {first_failure(5), first_failure(4, outcome_kind::dead)})
      .committed
    == 0);
  CHECK(fixture.finish(low).committed == 4);

  const auto claimed = fixture.claim_exceptions().claimed;
  REQUIRE(ids_of(claimed) == ids{5});
  const auto change =
    later_run({claimed[0].attempts, claimed[0].delays}, outcome_kind::done, {});
  CHECK(fixture.settle(exception_settlement{5, claimed[0].token, change, {}})
          .committed
        == 6);
  CHECK(fixture.lag().dead == 1);
}

TEMPLATE_TEST_CASE("committed passes what is done, dead or superseded",
                   "[store][committed]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  CHECK(fixture
          .finish(*fixture.claim().claimed,
                  {first_failure(1, outcome_kind::dead),
                   first_failure(2, outcome_kind::superseded),
                   first_failure(4, outcome_kind::deferred)})
          .committed
        == 3);
}

TEMPLATE_TEST_CASE("committed waits for a ready, deferred or running message",
                   "[store][committed]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  const auto range = *fixture.claim().claimed;
  const auto outcome = GENERATE(outcome_kind::retry, outcome_kind::deferred);
  CHECK(fixture.finish(range, {first_failure(2, outcome)}).committed == 1);
  const auto run = fixture.claim_exceptions().claimed.at(0);
  CHECK(fixture.lag().committed == 1);
  CHECK(fixture.settle(later_outcome(run, outcome_kind::dead)).committed == 2);
}

TEMPLATE_TEST_CASE("committed never goes back", "[store][committed]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  CHECK(fixture.finish(*fixture.claim(2).claimed).committed == 2);
  // A straggler of an earlier pass below it.
  const auto range = *fixture.claim().claimed;
  CHECK(fixture.finish(range, {first_failure(1)}).committed >= 2);
  CHECK(fixture.lag().committed >= 2);
}

TEMPLATE_TEST_CASE("committed moves when the last retry is killed",
                   "[store][committed]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  fixture.claim_exceptions(1, 0s, {.max_retries = 1});
  REQUIRE(fixture.kill_exhausted({.max_retries = 1}) == ids{1});
  CHECK(fixture.lag().committed == 2);
}
