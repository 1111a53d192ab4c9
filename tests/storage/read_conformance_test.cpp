// Reading without a group, and where a group stands.

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("reading without a group never passes an id either",
                   "[store][read]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto& session = fixture.store;
  fixture.produce(1);
  auto slow = fixture.open_producer();
  slow->produce(messages(1));
  fixture.produce(2);

  auto seen = session.read({.stream = fixture.stream.id});
  CHECK(ids_of(seen.messages) == ids{1});
  seen = session.read({.stream = fixture.stream.id, .position = seen.position});
  CHECK(seen.messages.empty());
  slow->rollback();
  seen = session.read({.stream = fixture.stream.id, .position = seen.position});
  CHECK(ids_of(seen.messages) == ids{3, 4});
  CHECK(seen.position.after == 4);
}

TEMPLATE_TEST_CASE("lag tells where a group stands", "[store][lag]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  CHECK(fixture.lag().head == 0);
  CHECK(fixture.lag().backlog == 0);
  fixture.produce(5);
  const auto range = *fixture.claim(2).claimed;
  auto lag = fixture.lag();
  CHECK(lag.head == 5);
  CHECK(lag.claimed == 2);
  CHECK(lag.committed == 0);
  CHECK(lag.backlog == 5);
  CHECK(lag.open_leases == 1);
  CHECK_FALSE(lag.backlog_estimated);
  fixture.finish(range);
  CHECK(fixture.lag().backlog == 3);
}

TEMPLATE_TEST_CASE("a reader goes through a stream page by page, over holes",
                   "[store][read]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto lost = fixture.open_producer();
  lost->produce(messages(20));
  fixture.produce(3);
  lost->rollback();
  read_request request;
  request.stream = fixture.stream.id;
  request.limit = 2;
  auto page = fixture.store.read(request);
  CHECK(ids_of(page.messages) == ids{21, 22});
  CHECK(page.position.after == 22);
  request.position = page.position;
  page = fixture.store.read(request);
  CHECK(ids_of(page.messages) == ids{23});
  request.position = page.position;
  CHECK(fixture.store.read(request).messages.empty());
  fixture.produce(1);
  CHECK(ids_of(fixture.store.read(request).messages) == ids{24});
}

TEMPLATE_TEST_CASE("a reader may start anywhere and sees every version and key",
                   "[store][read]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(3);
  batch[1].schema_version = 2;
  batch[2].routing_key = "eu";
  fixture.produce(batch);
  read_request request;
  request.stream = fixture.stream.id;
  request.position.after = 1;
  const auto page = fixture.store.read(request);
  REQUIRE(ids_of(page.messages) == ids{2, 3});
  CHECK(page.messages[0].schema_version == 2);
  CHECK(page.messages[1].routing_key == "eu");
}

TEMPLATE_TEST_CASE("a large backlog is estimated", "[store][lag]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(10'000);
  CHECK(fixture.lag().backlog == 10'000);
  CHECK_FALSE(fixture.lag().backlog_estimated);
  auto lost = fixture.open_producer();
  lost->produce(messages(50));
  lost->rollback();
  fixture.produce(1);
  CHECK(fixture.lag().backlog == 10'051);
  CHECK(fixture.lag().backlog_estimated);
}

TEMPLATE_TEST_CASE("dropped messages are no backlog", "[store][lag]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.stream = fixture.add_stream("small", {.partition_size = 10});
  fixture.use_group("reader");
  const auto last = fixture.produce(25).back().id;
  const auto dropped = fixture.drop_partitions(fixture.stream, last - 15);
  const auto lag = fixture.lag();
  CHECK(lag.backlog == last - dropped);
  CHECK(lag.head == last);
  fixture.claim();
  CHECK(fixture.lag().claimed == last);
}
