#include "config/error.hpp"
#include "storage/json_number.hpp"
#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using ids = std::vector<message_id>;

namespace {

std::vector<new_message> keyed(const std::vector<std::string>& keys) {
  std::vector<new_message> all;
  for (const auto& key : keys)
    all.push_back({.payload = "1", .idempotency_key = key});
  return all;
}

} // namespace

TEMPLATE_TEST_CASE("the ids of a batch ascend", "[store][produce]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  CHECK(ids_of(fixture.produce(3)) == ids{1, 2, 3});
  CHECK(ids_of(fixture.produce(2)) == ids{4, 5});
  CHECK(fixture.store.produce(fixture.stream.id, {}).empty());
}

TEMPLATE_TEST_CASE("an idempotency key stores a message once",
                   "[store][produce][idempotency]", memory_fixture,
                   postgres_fixture) {
  TestType fixture;
  auto& session = fixture.store;
  const auto stream = fixture.stream.id;
  const auto first = session.produce(stream, keyed({"a", "b"}));
  REQUIRE(first.size() == 2);
  CHECK_FALSE(first[0].duplicate);

  SECTION("again, the original's id is the answer") {
    CHECK(session.produce(stream, keyed({"b"}))
          == std::vector<produced>{{first[1].id, true}});
    CHECK(fixture.claim().claimed->messages.size() == 2);
  }
  SECTION("within one batch as well, in the order given") {
    const auto mixed = session.produce(stream, keyed({"z", "a", "", "z", "y"}));
    REQUIRE(mixed.size() == 5);
    CHECK(mixed[1] == produced{first[0].id, true});
    CHECK_FALSE(mixed[0].duplicate);
    CHECK(mixed[3] == produced{mixed[0].id, true});
    CHECK(mixed[0].id < mixed[2].id);
    CHECK(mixed[2].id < mixed[4].id);
    CHECK(fixture.claim().claimed->messages.size() == 5);
  }
  SECTION("another stream has keys of its own") {
    const auto other = session.register_stream({.name = "other"}).stream.id;
    CHECK_FALSE(session.produce(other, keyed({"a"}))[0].duplicate);
  }
}

TEMPLATE_TEST_CASE("a key of a transaction that rolled back is free again",
                   "[store][produce][idempotency]", memory_fixture,
                   postgres_fixture) {
  TestType fixture;
  auto lost = fixture.open_producer();
  lost->produce(keyed({"a"}));
  lost->rollback();
  const auto again = fixture.store.produce(fixture.stream.id, keyed({"a"}));
  CHECK_FALSE(again[0].duplicate);
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{again[0].id});
}

TEMPLATE_TEST_CASE("messages without a key are never duplicates",
                   "[store][produce][idempotency]", memory_fixture,
                   postgres_fixture) {
  TestType fixture;
  const auto results = fixture.produce(keyed({"", "", "a"}));
  for (const auto& one : results)
    CHECK_FALSE(one.duplicate);
  CHECK(fixture.claim().claimed->messages.size() == 3);
}

TEMPLATE_TEST_CASE("a batch that is produced again is all duplicates",
                   "[store][produce][idempotency]", memory_fixture,
                   postgres_fixture) {
  TestType fixture;
  const auto batch = keyed({"b", "a", "6fa459ea-ee8a-3ca4-894e-db77e160355e"});
  const auto first = fixture.produce(batch);
  const auto again = fixture.produce(batch);
  REQUIRE(again.size() == first.size());
  for (std::size_t i = 0; i < first.size(); ++i)
    CHECK(again[i] == produced{first[i].id, true});
  CHECK(fixture.claim().claimed->messages.size() == 3);
}

TEMPLATE_TEST_CASE("a message of an open transaction is there once it commits",
                   "[store][produce]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto slow = fixture.open_producer();
  const auto drawn = slow->produce(keyed({"a"}));
  CHECK_FALSE(fixture.claim().claimed);
  slow->commit();
  CHECK(ids_of(fixture.claim().claimed->messages) == ids_of(drawn));
  CHECK(fixture.produce(keyed({"a"}))
        == std::vector<produced>{{drawn[0].id, true}});
}

TEMPLATE_TEST_CASE("numbers up to the limits of the check are stored",
                   "[store][produce]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const std::string widest =
    "1" + std::string(131'071, '0') + "." + std::string(16'382, '0') + "1";
  for (const auto& number :
       {widest, std::string{"1e131071"}, std::string{"0.001e131074"},
        std::string{"0e200000"}, std::string{"-1e-16383"},
        std::string{"0e-16383"}}) {
    INFO(number.substr(0, 20));
    REQUIRE(fits_numeric(number));
    CHECK(fixture.produce({new_message{.payload = number}}).size() == 1);
  }
}

TEMPLATE_TEST_CASE("producing into a stream that is not registered is refused",
                   "[store][produce]", memory_fixture, postgres_fixture) {
  TestType fixture;
  try {
    fixture.store.produce(fixture.stream.id + 1000, messages(1));
    FAIL("it went through");
  } catch (const error& e) {
    CHECK(e.number() == code::stream_not_found);
    CHECK(e.recover() == recovery::permanent);
  }
}
