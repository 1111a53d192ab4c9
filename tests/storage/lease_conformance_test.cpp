// Leases of ranges: design page 07, "Commit/lease".

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("settling a range ends its lease and moves committed",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto range = *fixture.claim().claimed;
  CHECK(fixture.lag().committed == 0);

  const auto answer = fixture.finish(range);
  CHECK(answer.lost_ranges.empty());
  CHECK(answer.committed == 3);
  CHECK(fixture.lag().open_leases == 0);
  CHECK(fixture.lag().backlog == 0);

  // Again: nothing is left to settle, and nothing changes.
  CHECK(fixture.finish(range).lost_ranges
        == std::vector<lease_token>{range.token});
  CHECK(fixture.lag().committed == 3);
}

TEMPLATE_TEST_CASE("a partial settle narrows the range under the same token",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  const auto range = *fixture.claim().claimed;
  CHECK(fixture.settle({.token = range.token, .resolved_to = 2}).committed
        == 2);
  CHECK(fixture.lag().open_leases == 1);
  CHECK(fixture.finish(range).lost_ranges.empty());
  CHECK(fixture.lag().committed == 4);
}

TEMPLATE_TEST_CASE("an expired range is taken over under a new token",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  const auto old = *fixture.claim(100, 0s).claimed;

  const auto taken = fixture.reclaim();
  REQUIRE(taken.reclaimed.size() == 1);
  const auto& range = taken.reclaimed[0];
  CHECK(range.claimed.range == old.range);
  CHECK(ids_of(range.claimed.messages) == ids{1, 2});
  CHECK(range.claimed.token != old.token);
  CHECK(range.claimed.reclaims == 1);
  CHECK(range.previous_holder == "a");
  CHECK_FALSE(range.surrendered);

  SECTION("the old holder writes nothing") {
    const auto answer = fixture.finish(old, {first_failure(1)});
    CHECK(answer.lost_ranges == std::vector<lease_token>{old.token});
    CHECK(fixture.exceptions().empty());
    CHECK(fixture.history_of(1).empty());
    CHECK(fixture.lag().committed == 0);
  }
  SECTION("the new one does") {
    CHECK(fixture.finish(range.claimed).lost_ranges.empty());
    CHECK(fixture.lag().committed == 2);
  }
  SECTION("nobody takes it while it is held") {
    CHECK(fixture.reclaim().reclaimed.empty());
  }
}

TEMPLATE_TEST_CASE("a surrendered range is free at once and counts no reclaim",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto range = *fixture.claim().claimed;
  fixture.settle({.token = range.token,
                  .resolved_to = 1,
                  .rest = unresolved_rest::surrendered});

  const auto taken = fixture.reclaim();
  REQUIRE(taken.reclaimed.size() == 1);
  CHECK(taken.reclaimed[0].surrendered);
  CHECK(taken.reclaimed[0].claimed.reclaims == 0);
  CHECK(ids_of(taken.reclaimed[0].claimed.messages) == ids{2, 3});
  CHECK(fixture.finish(range).lost_ranges.size() == 1);
}

TEMPLATE_TEST_CASE("surrender without end never leads to quarantine",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  auto range = *fixture.claim().claimed;
  for (int round = 0; round < 5; ++round) {
    fixture.settle({.token = range.token,
                    .resolved_to = 0,
                    .rest = unresolved_rest::surrendered});
    const auto taken = fixture.reclaim();
    REQUIRE(taken.reclaimed.size() == 1);
    range = taken.reclaimed[0].claimed;
  }
}

TEMPLATE_TEST_CASE("holders that keep vanishing send a range to quarantine",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto first = *fixture.claim(100, 0s).claimed;
  CHECK(fixture.reclaim(0s).reclaimed.at(0).claimed.reclaims == 1);
  CHECK(fixture.reclaim(0s).reclaimed.at(0).claimed.reclaims == 2);
  const auto last = fixture.reclaim(0s);
  REQUIRE(last.reclaimed.size() == 1);
  CHECK(last.reclaimed[0].claimed.reclaims == 3);

  SECTION("its messages become exceptions, free to run") {
    const auto answer = fixture.reclaim(0s);
    CHECK(answer.reclaimed.empty());
    REQUIRE(answer.quarantined.size() == 1);
    CHECK(answer.quarantined[0].range == first.range);
    CHECK(answer.quarantined[0].messages == 3);
    CHECK(answer.quarantined[0].previous_holder == "b");
    CHECK(fixture.lag().open_leases == 0);
    CHECK(fixture.lag().ready == 3);
    CHECK(fixture.lag().committed == 0);
    const auto claimed = fixture.claim_exceptions().claimed;
    CHECK(ids_of(claimed) == ids{1, 2, 3});
    CHECK(claimed[0].attempts == 0);
  }
  SECTION("partial progress starts the count anew") {
    fixture.settle({.token = last.reclaimed[0].claimed.token,
                    .resolved_to = 1,
                    .exceptions = {first_failure(1)}});
    const auto again = fixture.reclaim(0s);
    REQUIRE(again.reclaimed.size() == 1);
    CHECK(again.reclaimed[0].claimed.reclaims == 1);
    CHECK(ids_of(again.reclaimed[0].claimed.messages) == ids{2, 3});
    // The suffix alone is quarantined; what was recorded keeps its counters.
    fixture.reclaim(0s);
    fixture.reclaim(0s);
    CHECK(fixture.reclaim(0s).quarantined.at(0).messages == 2);
    CHECK(fixture.exceptions().at(0).attempts == 1);
    CHECK(fixture.exceptions().at(1).attempts == 0);
  }
}

TEMPLATE_TEST_CASE("several ranges settle in one call", "[store][lease]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  const auto first = *fixture.claim(2).claimed;
  const auto second = *fixture.claim(2, 0s).claimed;
  fixture.reclaim();
  const auto answer = fixture.store.settle(
    {.stream = fixture.stream.id,
     .group = fixture.group.id,
     .ranges = {{.token = second.token, .resolved_to = second.range.high},
                {.token = first.token, .resolved_to = first.range.high}}});
  CHECK(answer.lost_ranges == std::vector<lease_token>{second.token});
  CHECK(answer.committed == 2);
}

TEMPLATE_TEST_CASE("quarantine takes what a claim would have taken",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.use_group("bound", {.bindings = {"eu"}, .max_range_reclaims = 1});
  auto batch = messages(4);
  for (auto& one : batch)
    one.routing_key = "eu";
  batch[1].routing_key = "us";
  batch[2].schema_version = 2;
  batch[3].message_key = "k";
  batch[3].options.concurrency = concurrency::ordered;
  fixture.produce(batch);
  fixture.claim(100, 0s);

  reclaim_request request;
  request.stream = fixture.stream.id;
  request.group = fixture.group.id;
  request.max_range_reclaims = 1;
  REQUIRE(fixture.store.reclaim(request).reclaimed.size() == 1);
  const auto answer = fixture.store.reclaim(request);
  REQUIRE(answer.quarantined.size() == 1);
  CHECK(answer.quarantined[0].messages == 2);
  CHECK(answer.reclaimed.empty());

  const auto rows = fixture.exceptions();
  REQUIRE(ids_of(rows) == ids{1, 4});
  CHECK(rows[0].status == exception_status::ready);
  CHECK(rows[0].policy == concurrency::parallel);
  CHECK(rows[1].policy == concurrency::ordered);
  CHECK(rows[1].message_key == "k");
  CHECK(fixture.history_of(1).empty());
}

TEMPLATE_TEST_CASE("a range that is replayed spends no attempt",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.claim(100, 0s);
  fixture.reclaim(0s);
  const auto taken = fixture.reclaim();
  REQUIRE(taken.reclaimed.size() == 1);
  fixture.finish(taken.reclaimed[0].claimed, {first_failure(1)});
  CHECK(fixture.exceptions().at(0).attempts == 1);
  CHECK(fixture.history_of(1) == "failure:0");
}

TEMPLATE_TEST_CASE("an expired lease is its holder's until it is taken over",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto range = *fixture.claim(100, 0s).claimed;
  CHECK(fixture.settle({.token = range.token, .resolved_to = 1})
          .lost_ranges.empty());
  CHECK(fixture.finish(range).lost_ranges.empty());
  CHECK(fixture.lag().committed == 3);
  CHECK(fixture.reclaim().reclaimed.empty());
}

TEMPLATE_TEST_CASE("a repeated partial settle changes nothing",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto range = *fixture.claim().claimed;
  const range_settlement first{
    .token = range.token, .resolved_to = 1, .exceptions = {first_failure(1)}};
  CHECK(fixture.settle(first).lost_ranges.empty());
  CHECK(fixture.settle(first).lost_ranges
        == std::vector<lease_token>{range.token});
  CHECK(fixture.history_of(1) == "failure:0");

  const range_settlement rest{.token = range.token,
                              .resolved_to = 1,
                              .rest = unresolved_rest::surrendered};
  CHECK(fixture.settle(rest).lost_ranges.empty());
  CHECK(fixture.settle(rest).lost_ranges.size() == 1);
  CHECK(ids_of(fixture.reclaim().reclaimed.at(0).claimed.messages)
        == ids{2, 3});
}

TEMPLATE_TEST_CASE("the lowest ranges are taken over first, as many as asked",
                   "[store][lease]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  for (int i = 0; i < 3; ++i)
    fixture.claim(1, 0s);
  reclaim_request request;
  request.stream = fixture.stream.id;
  request.group = fixture.group.id;
  request.limit = 2;
  request.lease = long_lease;
  const auto taken = fixture.store.reclaim(request);
  REQUIRE(taken.reclaimed.size() == 2);
  CHECK(taken.reclaimed[0].claimed.range == id_range{0, 1});
  CHECK(taken.reclaimed[1].claimed.range == id_range{1, 2});
}

TEMPLATE_TEST_CASE("a paused group takes no range over", "[store][lease]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.claim(1, 0s);
  fixture.use_group("billing", {.paused = true});
  CHECK(fixture.reclaim().reclaimed.empty());
  fixture.use_group("billing");
  CHECK(fixture.reclaim().reclaimed.size() == 1);
}
