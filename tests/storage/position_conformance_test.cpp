// Where a new group starts to read.

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("a new group starts where it was told to",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  SECTION("at the beginning") {
    fixture.use_group("g", {.start = beginning()});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{1, 2, 3, 4});
  }
  SECTION("at the head") {
    fixture.use_group("g", {.start = head()});
    CHECK_FALSE(fixture.claim().claimed);
    CHECK(fixture.lag().backlog == 0);
    fixture.produce(1);
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{5});
  }
  SECTION("at a message") {
    fixture.use_group("g", {.start = at_message(3)});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{3, 4});
  }
  SECTION("at a time") {
    const auto created = fixture.claim().claimed->messages.at(0).created_at;
    fixture.use_group("g", {.start = at_time(created + 1h)});
    CHECK_FALSE(fixture.claim().claimed);
    fixture.use_group("h", {.start = at_time(created)});
    CHECK(ids_of(fixture.claim().claimed->messages) == ids{1, 2, 3, 4});
  }
}

TEMPLATE_TEST_CASE("a group may start at a message that is still to come",
                   "[store][positions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.use_group("later", {.start = at_message(3)});
  CHECK_FALSE(fixture.claim().claimed);
  CHECK(fixture.lag().backlog == 0);
  fixture.produce(3);
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{3, 4});
}

TEMPLATE_TEST_CASE("a group that starts at a time reads from the next message",
                   "[store][positions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.produce(1);
  const auto all = fixture.claim().claimed->messages;
  fixture.use_group("later", {.start = at_time(all.at(0).created_at + 1us)});
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{2});
}

TEMPLATE_TEST_CASE("a group that starts at the beginning is behind nothing",
                   "[store][positions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.stream = fixture.add_stream("small", {.partition_size = 10});
  const auto last = fixture.produce(25).back().id;
  const auto dropped = fixture.drop_partitions(fixture.stream, last - 15);
  fixture.use_group("reader");
  CHECK(fixture.lag().backlog == last - dropped);
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(claim.claimed->range == id_range{dropped, last});
  CHECK_FALSE(claim.behind_retention);
}

TEMPLATE_TEST_CASE("what commits late above the head is read from there",
                   "[store][positions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  auto slow = fixture.open_producer();
  slow->produce(messages(1)); // id 2
  fixture.use_group("tail", {.start = head()});
  fixture.produce(1); // id 3
  CHECK_FALSE(fixture.claim().claimed);
  slow->commit();
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{2, 3});
}
