// Which messages a group with bindings reads.

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("bindings select by routing key at the claim",
                   "[store][claim][bindings]", memory_fixture,
                   postgres_fixture) {
  TestType fixture;
  std::vector<new_message> batch;
  for (const auto* key : {"eu.de.x", "us", "", "eu", "xeu.de", "eu.(a|b)"})
    batch.push_back({.payload = "1", .routing_key = key});
  fixture.store.produce(fixture.stream.id, batch);

  SECTION("a star matches any run of characters, dots included") {
    fixture.use_group("bound", {.bindings = {"eu.*"}});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{1, 6});
  }
  SECTION("characters of regular expressions stand for themselves") {
    fixture.use_group("bound", {.bindings = {"eu.(a|b)"}});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{6});
  }
  SECTION("several patterns, anchored; no key matches none") {
    fixture.use_group("bound", {.bindings = {"eu", "*"}});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{1, 2, 4, 5, 6});
  }
  SECTION("without bindings everything is read") {
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{1, 2, 3, 4, 5, 6});
  }
}

TEMPLATE_TEST_CASE("a binding counts for messages that are older than it",
                   "[store][bindings]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(3);
  batch[0].routing_key = "eu";
  batch[1].routing_key = "us";
  fixture.produce(batch);

  CHECK(fixture.use_group("billing", {.bindings = {"us"}}).bindings
        == binding_effect::installed);
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{2});
  CHECK(claim.claimed->range == id_range{0, 3}); // the others pass for good

  CHECK(fixture.use_group("billing", {.bindings = {"us"}}).bindings
        == binding_effect::joined);
  fixture.use_group("billing");
  fixture.produce(1);
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{4});
  CHECK(fixture.use_group("billing").bindings == binding_effect::none);
}

TEMPLATE_TEST_CASE("a range taken over is read by today's bindings",
                   "[store][bindings]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(2);
  batch[0].routing_key = "eu";
  batch[1].routing_key = "us";
  fixture.produce(batch);
  fixture.claim(100, 0s);
  fixture.use_group("billing", {.bindings = {"us"}});
  const auto taken = fixture.reclaim();
  REQUIRE(taken.reclaimed.size() == 1);
  CHECK(ids_of(taken.reclaimed[0].claimed.messages) == ids{2});
}
