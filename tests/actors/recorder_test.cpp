#include "actors/recorder.hpp"

#include "tests/actors/child_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

constexpr monotonic_time lease_end{47s};

struct recording {
  child_fixture<settle_request, outcomes_recorded, recording_failed> c;
  caf::actor child = c.start(recorder);

  void record(range_number number) {
    pending_range range;
    range.number = number;
    range.settlement.token = "t" + std::to_string(number);
    range.lease_end = lease_end;
    caf::anon_send(child, record_outcomes{{std::move(range)}, {}});
    c.node.run();
  }
  void record_exception(std::uint64_t number, message_id id) {
    pending_exception exception;
    exception.number = number;
    exception.settlement.id = id;
    exception.lease_end = lease_end;
    caf::anon_send(child, record_outcomes{{}, {std::move(exception)}});
    c.node.run();
  }
  void answer(std::size_t index, settle_result result = {}) {
    c.storage.answer(index, std::move(result));
    c.node.run();
  }
  void fail(std::size_t index, code number) {
    c.storage.fail(index, error{number});
    c.node.run();
  }
  const std::vector<settle_request>& settles() { return c.storage.requests(); }
  const std::vector<outcomes_recorded>& told() {
    return c.heard<outcomes_recorded>();
  }
};

} // namespace

SCENARIO("what comes during a settle shares the next one", "[recorder]") {
  recording given;
  given.record(1);
  given.record(2);
  given.record_exception(1, 77);
  given.record(3);
  REQUIRE(given.settles().size() == 1);
  CHECK(given.settles()[0].ranges.size() == 1);

  WHEN("it is answered") {
    given.answer(0);
    THEN("the session knows, and the rest follows in one request") {
      REQUIRE(given.told().size() == 1);
      CHECK(given.told()[0].ranges == std::vector<range_number>{1});
      REQUIRE(given.settles().size() == 2);
      CHECK(given.settles()[1].ranges.size() == 2);
      CHECK(given.settles()[1].exceptions.size() == 1);
    }
    AND_WHEN("parts of that are not ours any more") {
      settle_result result;
      result.lost_ranges = {"t3"};
      result.lost_exceptions = {77};
      given.answer(1, result);
      THEN("the session learns which") {
        REQUIRE(given.told().size() == 2);
        CHECK(given.told()[1].ranges == std::vector<range_number>{2});
        CHECK(given.told()[1].lost_ranges == std::vector<range_number>{3});
        CHECK(given.told()[1].exceptions.empty());
        CHECK(given.told()[1].lost_exceptions == std::vector<std::uint64_t>{1});
      }
    }
  }
}

SCENARIO("a settle that fails is made again while its leases last",
         "[recorder]") {
  recording given;
  given.record(1);
  given.record(2);
  given.fail(0, code::database_unreachable);
  CHECK(given.settles().size() == 1);
  given.c.node.advance_by(200ms);

  THEN("all of it goes together, the oldest first") {
    REQUIRE(given.settles().size() == 2);
    REQUIRE(given.settles()[1].ranges.size() == 2);
    CHECK(given.settles()[1].ranges[0].token == "t1");
    given.answer(1);
    CHECK(given.told().at(0).ranges == std::vector<range_number>{1, 2});
  }
  WHEN("the server is silent") {
    given.c.node.advance_by(16s);
    THEN("it is made again, and a late answer to the old one is ignored") {
      REQUIRE(given.settles().size() == 3);
      given.answer(1);
      CHECK(given.told().empty());
      given.answer(2);
      CHECK(given.told().size() == 1);
    }
    THEN("parts that the store does not know any more took effect before") {
      settle_result result;
      result.lost_ranges = {"t1"};
      given.answer(2, result);
      CHECK(given.told().at(0).ranges == std::vector<range_number>{1, 2});
      CHECK(given.told().at(0).lost_ranges.empty());
    }
  }
  WHEN("the leases are over") {
    given.c.node.advance_by(2min);
    THEN("the session learns that its work is lost, once") {
      std::vector<range_number> lost;
      for (const auto& told : given.told())
        lost.insert(lost.end(), told.lost_ranges.begin(),
                    told.lost_ranges.end());
      CHECK(lost == std::vector<range_number>{1, 2});
      const auto asked = given.settles().size();
      given.c.node.advance_by(1min);
      CHECK(given.settles().size() == asked);
    }
  }
}

SCENARIO("a settle that can never work ends the session", "[recorder]") {
  recording given;
  given.record(1);
  given.fail(0, code::permission_denied);
  const auto& failures = given.c.heard<recording_failed>();
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].why->number() == code::permission_denied);

  WHEN("there is more to record") {
    given.record(2);
    THEN("nobody is asked in vain") { CHECK(given.settles().size() == 1); }
  }
}
