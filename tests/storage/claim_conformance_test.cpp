// How far a claim goes, and what it returns: design page 07, "Claim/fence".

#include "config/error.hpp"
#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("a claim takes the messages in id order, once",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(5);

  const auto first = fixture.claim(3);
  REQUIRE(first.claimed);
  CHECK(ids_of(first.claimed->messages) == ids{1, 2, 3});
  CHECK(first.claimed->range == id_range{0, 3});
  CHECK(first.more);

  const auto second = fixture.claim(3);
  REQUIRE(second.claimed);
  CHECK(ids_of(second.claimed->messages) == ids{4, 5});
  CHECK(second.claimed->token != first.claimed->token);
  CHECK_FALSE(fixture.claim(3).claimed);
}

TEMPLATE_TEST_CASE("a claim returns everything that was produced",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const message_options options{.timeout = 7s,
                                .retry = retry_policy{.max_retries = 9}};
  fixture.store.produce(fixture.stream.id,
                        {{.payload = R"({"name":"Grüße \"%s\" 😀"})",
                          .routing_key = "eu.de",
                          .message_key = "acct-42",
                          .headers = {{"trace", "a\tb\\c\nd"}, {"empty", ""}},
                          .options = options},
                         {.payload = std::string("\x00\xff\x01", 3),
                          .content_type = "application/octet-stream"}});

  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  REQUIRE(claim.claimed->messages.size() == 2);
  const auto& json = claim.claimed->messages[0];
  CHECK(json.payload.find("Grüße \\\"%s\\\" 😀") != std::string::npos);
  CHECK(json.routing_key == "eu.de");
  CHECK(json.message_key == "acct-42");
  CHECK(json.headers
        == message_headers{{"trace", "a\tb\\c\nd"}, {"empty", ""}});
  CHECK(json.options == options);
  CHECK(json.content_type.empty());
  CHECK(json.defect.empty());
  const auto& bytes = claim.claimed->messages[1];
  CHECK(bytes.payload == std::string("\x00\xff\x01", 3));
  CHECK(bytes.content_type == "application/octet-stream");
}

TEMPLATE_TEST_CASE("a lower id that commits later is not passed over",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto slow = fixture.open_producer();
  REQUIRE(ids_of(slow->produce(messages(2))) == ids{1, 2});
  fixture.produce(2);

  const auto held = fixture.claim();
  CHECK_FALSE(held.claimed);
  REQUIRE(held.hold);
  CHECK(held.hold->missing == 1);
  CHECK_FALSE(fixture.claim().claimed);

  SECTION("it comes in order once it is there") {
    slow->commit();
    const auto claim = fixture.claim();
    REQUIRE(claim.claimed);
    CHECK(ids_of(claim.claimed->messages) == ids{1, 2, 3, 4});
  }

  SECTION("its hole is passed once it is rolled back") {
    slow->rollback();
    const auto claim = fixture.claim();
    REQUIRE(claim.claimed);
    CHECK(ids_of(claim.claimed->messages) == ids{3, 4});
    CHECK(claim.claimed->range == id_range{0, 4});
  }
}

TEMPLATE_TEST_CASE("what is visible below a gap is claimed at once",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  auto slow = fixture.open_producer();
  slow->produce(messages(1));
  fixture.produce(2);

  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{1, 2});
  slow->commit();
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{3, 4, 5});
}

TEMPLATE_TEST_CASE("a proof goes on while new producers come and go",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto first = fixture.open_producer();
  first->produce(messages(1));
  fixture.produce(1);                   // id 2
  CHECK_FALSE(fixture.claim().claimed); // remembers who holds the gap

  auto second = fixture.open_producer();
  second->produce(messages(1)); // id 3
  fixture.produce(1);           // id 4
  first->rollback();

  // Without the memory of the first claim the second producer would hold up
  // id 2 as well.
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{2});
  second->commit();
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{3, 4});
}

TEMPLATE_TEST_CASE("each group reads the whole stream", "[store][claim]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  REQUIRE(fixture.claim().claimed);
  fixture.use_group("shipping", {});
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{1, 2});
}

TEMPLATE_TEST_CASE("an unknown group is a loud error", "[store][claim]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.group.id += 1000;
  try {
    fixture.claim();
    FAIL("the claim went through");
  } catch (const error& e) {
    CHECK(e.number() == code::group_not_found);
    CHECK(e.recover() == recovery::permanent);
  }
}

TEMPLATE_TEST_CASE("rows of other schema versions pass under the cursor",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(3);
  batch[1].schema_version = 2;
  fixture.store.produce(fixture.stream.id, batch);
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{1, 3});
  CHECK(claim.claimed->range == id_range{0, 3});
}

TEMPLATE_TEST_CASE("a range without a message for the group leaves no lease",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(3);
  for (auto& one : batch)
    one.schema_version = 2;
  fixture.produce(batch);
  const auto claim = fixture.claim(2);
  CHECK_FALSE(claim.claimed);
  CHECK(claim.more);
  CHECK(fixture.lag().claimed == 2);
  CHECK(fixture.lag().committed == 2);
  CHECK(fixture.lag().open_leases == 0);
  CHECK_FALSE(fixture.claim(2).more);
}

TEMPLATE_TEST_CASE("a paused group claims nothing", "[store][claim]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.use_group("billing", {.paused = true});
  const auto paused = fixture.claim();
  CHECK(paused.paused);
  CHECK_FALSE(paused.claimed);
  fixture.use_group("billing", {});
  CHECK(fixture.claim().claimed);
}

TEMPLATE_TEST_CASE("a claim stops at its cap of bytes", "[store][claim]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  std::vector<new_message> batch(
    4, a_message('"' + std::string(50'000, 'x') + '"'));
  fixture.store.produce(fixture.stream.id, batch);
  const auto claim = fixture.store.claim({.stream = fixture.stream.id,
                                          .group = fixture.group.id,
                                          .limit = 10,
                                          .limit_bytes = 120'000,
                                          .lease = 1h});
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{1, 2});
  CHECK(claim.more);
  const auto tiny = fixture.store.claim({.stream = fixture.stream.id,
                                         .group = fixture.group.id,
                                         .limit = 10,
                                         .limit_bytes = 1,
                                         .lease = 1h});
  CHECK(ids_of(tiny.claimed->messages) == ids{3});
}

TEMPLATE_TEST_CASE("no call about an unknown group goes through",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.group.id += 1000;
  const auto refused = [](auto call) {
    try {
      call();
    } catch (const error& e) {
      return e.number() == code::group_not_found;
    }
    return false;
  };
  CHECK(refused([&] { fixture.reclaim(); }));
  const auto token = "00000000-0000-4000-8000-000000000000";
  CHECK(refused([&] { fixture.finish({token, {0, 1}, 0, {}}); }));
  CHECK(refused([&] { fixture.claim_exceptions(); }));
  CHECK(refused([&] { fixture.kill_exhausted(); }));
  CHECK(refused([&] { fixture.lag(); }));
}

TEMPLATE_TEST_CASE("what a claim saw is remembered for whoever claims next",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto first = fixture.open_producer();
  first->produce(messages(1)); // id 1
  fixture.produce(1);          // id 2
  REQUIRE_FALSE(fixture.claim().claimed);
  auto second = fixture.open_producer();
  second->produce(messages(1)); // id 3
  first->rollback();

  const auto other = fixture.another_session();
  claim_request request;
  request.stream = fixture.stream.id;
  request.group = fixture.group.id;
  request.limit = 10;
  request.lease = long_lease;
  const auto claim = other->claim(request);
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{2});
}

TEMPLATE_TEST_CASE("two sessions never claim the same message",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  const auto other = fixture.another_session();
  CHECK(ids_of(fixture.claim(2).claimed->messages) == ids{1, 2});
  claim_request request;
  request.stream = fixture.stream.id;
  request.group = fixture.group.id;
  request.limit = 2;
  request.lease = long_lease;
  CHECK(ids_of(other->claim(request).claimed->messages) == ids{3, 4});
}

TEMPLATE_TEST_CASE("an open transaction that has produced nothing is no gap",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto idle = fixture.open_producer();
  fixture.produce(2);
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{1, 2});
  CHECK_FALSE(claim.hold);
}

TEMPLATE_TEST_CASE("a claim says who holds it up", "[store][claim]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  auto slow = fixture.open_producer();
  slow->produce(messages(2));
  fixture.produce(1);

  const auto limited = fixture.claim(1);
  CHECK(ids_of(limited.claimed->messages) == ids{1});
  const auto held = fixture.claim();
  CHECK_FALSE(held.claimed);
  CHECK_FALSE(held.more);
  REQUIRE(held.hold);
  CHECK(held.hold->missing == 2);
  CHECK(held.hold->pid > 0);
  CHECK(held.hold->age >= 0ns);
}

TEMPLATE_TEST_CASE("a claim counts messages, so that a hole is passed at once",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto lost = fixture.open_producer();
  lost->produce(messages(500));
  fixture.produce(2);
  lost->rollback();

  const auto claim = fixture.claim(1);
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{501});
  CHECK(claim.claimed->range == id_range{0, 501});
  CHECK(claim.more);
  CHECK(ids_of(fixture.claim(1).claimed->messages) == ids{502});
}

TEMPLATE_TEST_CASE("a claim knows whether another would find something",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  CHECK(fixture.claim(1).more);
  CHECK_FALSE(fixture.claim(2).more);
  CHECK_FALSE(fixture.claim(2).more);
}

TEMPLATE_TEST_CASE("a claim goes on after what retention has dropped",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.stream = fixture.add_stream("small", {.partition_size = 10});
  fixture.use_group("reader");
  const auto all = ids_of(fixture.produce(25));

  SECTION("and says what it has gone over") {
    const auto dropped = fixture.drop_partitions(fixture.stream, all[10]);
    const auto claim = fixture.claim(2);
    REQUIRE(claim.claimed);
    CHECK(ids_of(claim.claimed->messages) == ids{dropped + 1, dropped + 2});
    CHECK(claim.claimed->range == id_range{0, dropped + 2});
    CHECK(claim.behind_retention == id_range{0, dropped});
    CHECK_FALSE(fixture.claim(2).behind_retention);
  }
  SECTION("which is nothing if the group had claimed it before") {
    REQUIRE(fixture.claim(20).claimed);
    const auto dropped = fixture.drop_partitions(fixture.stream, all[10]);
    REQUIRE(dropped <= all[19]);
    const auto claim = fixture.claim(2);
    REQUIRE(claim.claimed);
    CHECK(ids_of(claim.claimed->messages) == ids{all[20], all[21]});
    CHECK_FALSE(claim.behind_retention);
  }
}

TEMPLATE_TEST_CASE("a group reads the schema version it asks for",
                   "[store][claim]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto batch = messages(3);
  batch[1].schema_version = 2;
  fixture.produce(batch);
  fixture.schema_version = 2;
  const auto claim = fixture.claim();
  REQUIRE(claim.claimed);
  CHECK(ids_of(claim.claimed->messages) == ids{2});
  CHECK(claim.claimed->messages[0].schema_version == 2);
}
