#include "actors/range_tracker.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using progress = range_tracker::progress;

namespace {

constexpr monotonic_time lease_end{std::chrono::seconds{47}};

std::optional<exception_entry> failed(message_id id) {
  exception_entry entry;
  entry.id = id;
  entry.change = first_run(
    outcome_kind::retry, {retry_policy{}.with_defaults(retry_job::redelivery)});
  return entry;
}

/// Range (10, 20] with messages 12, 13 and 17.
struct three_messages {
  range_tracker tracker;
  range_number range = tracker.add("token", {10, 20}, {12, 13, 17}, lease_end);

  void run(std::size_t index, std::optional<exception_entry> entry = {}) {
    REQUIRE(tracker.start(range, index));
    REQUIRE(tracker.resolve(range, index, std::move(entry)));
  }
};

} // namespace

SCENARIO("a range is recorded whole when its last message has ended",
         "[range_tracker]") {
  three_messages given;
  auto& tracker = given.tracker;

  WHEN("all but the first have ended") {
    given.run(2);
    given.run(1, failed(13));
    THEN("nothing can be recorded, not even in part") {
      CHECK(tracker.collect(progress::partial).empty());
    }
    AND_WHEN("the first has too") {
      given.run(0);
      const auto pending = tracker.collect(progress::ended);
      THEN("everything up to the range's end is, ids without message too") {
        REQUIRE(pending.size() == 1);
        const auto& settlement = pending[0].settlement;
        CHECK(settlement.token == "token");
        CHECK(settlement.resolved_to == 20);
        CHECK(settlement.rest == unresolved_rest::kept);
        REQUIRE(settlement.exceptions.size() == 1);
        CHECK(settlement.exceptions[0].id == 13);
        CHECK(settlement.successes.empty());
        CHECK(pending[0].lease_end == lease_end);
      }
      THEN("it is handed out once, and forgotten when recorded") {
        CHECK(tracker.collect(progress::partial).empty());
        const auto done = tracker.recorded(given.range);
        REQUIRE(done);
        CHECK(done->ended);
        CHECK(done->counts.success == 2);
        CHECK(done->counts.ready == 1);
        CHECK(tracker.empty());
      }
      THEN("it is handed out again if nobody knows what became of it") {
        CHECK_FALSE(pending[0].maybe_done);
        tracker.collect_again();
        const auto again = tracker.collect(progress::ended);
        REQUIRE(again.size() == 1);
        CHECK(again[0].maybe_done);
      }
    }
  }
}

SCENARIO("a range without messages is recorded at once", "[range_tracker]") {
  range_tracker tracker;
  const auto range = tracker.add("token", {10, 20}, {}, lease_end);
  const auto pending = tracker.collect(progress::ended);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].settlement.resolved_to == 20);
  REQUIRE(tracker.recorded(range));
  CHECK(tracker.empty());
}

SCENARIO("a long range is recorded in part as it gets on", "[range_tracker]") {
  three_messages given;
  auto& tracker = given.tracker;
  given.run(0, failed(12));
  given.run(2);

  WHEN("it is time to record progress") {
    CHECK(tracker.collect(progress::ended).empty());
    const auto pending = tracker.collect(progress::partial);
    REQUIRE(pending.size() == 1);
    CHECK(pending[0].settlement.resolved_to == 12);
    CHECK(pending[0].settlement.exceptions.size() == 1);
    const auto done = tracker.recorded(given.range);
    REQUIRE(done);
    CHECK_FALSE(done->ended);
    CHECK(done->counts.ready == 1);
    CHECK(done->counts.success == 0);

    THEN("there is nothing more to record until something ends") {
      CHECK(tracker.collect(progress::partial).empty());
    }
    THEN("the rest is recorded once, at its end") {
      given.run(1);
      const auto rest = tracker.collect(progress::ended);
      REQUIRE(rest.size() == 1);
      CHECK(rest[0].settlement.resolved_to == 20);
      CHECK(rest[0].settlement.exceptions.empty());
      CHECK(tracker.recorded(given.range)->counts.success == 2);
    }
  }

  WHEN("nobody knows what became of the part, and there is more by now") {
    REQUIRE(tracker.collect(progress::partial).size() == 1);
    given.run(1, failed(13));
    tracker.collect_again();
    THEN("the very same is handed out again, the rest after it") {
      const auto again = tracker.collect(progress::ended);
      REQUIRE(again.size() == 1);
      CHECK(again[0].maybe_done);
      CHECK(again[0].settlement.resolved_to == 12);
      CHECK(again[0].settlement.exceptions.size() == 1);
      REQUIRE(tracker.recorded(given.range));
      const auto rest = tracker.collect(progress::ended);
      REQUIRE(rest.size() == 1);
      CHECK_FALSE(rest[0].maybe_done);
      CHECK(rest[0].settlement.resolved_to == 20);
      CHECK(rest[0].settlement.exceptions.size() == 1);
    }
  }

  WHEN("a message ends while the part is being recorded") {
    REQUIRE(tracker.collect(progress::partial).size() == 1);
    given.run(1, failed(13));
    const auto done = tracker.recorded(given.range);
    THEN("only what was handed out counts as recorded") {
      REQUIRE(done);
      CHECK(done->counts.total() == 1);
      CHECK(tracker.begun() == 2);
      const auto rest = tracker.collect(progress::ended);
      REQUIRE(rest.size() == 1);
      REQUIRE(rest[0].settlement.exceptions.size() == 1);
      CHECK(rest[0].settlement.exceptions[0].id == 13);
    }
  }
}

SCENARIO("what is given back is what has not been started", "[range_tracker]") {
  three_messages given;
  auto& tracker = given.tracker;

  WHEN("nothing was started") {
    CHECK(tracker.surrender(given.range));
    THEN("the whole range goes, without any progress") {
      const auto pending = tracker.collect(progress::ended);
      REQUIRE(pending.size() == 1);
      CHECK(pending[0].settlement.resolved_to == 10);
      CHECK(pending[0].settlement.rest == unresolved_rest::surrendered);
      CHECK(tracker.recorded(given.range)->given_back == 3);
      CHECK(tracker.empty());
    }
    THEN("nothing of it can start, and it is said once") {
      CHECK_FALSE(tracker.start(given.range, 0));
      CHECK_FALSE(tracker.accepts(given.range));
      CHECK_FALSE(tracker.surrender(given.range));
    }
  }

  WHEN("one runs and one has ended") {
    given.run(0);
    REQUIRE(tracker.start(given.range, 1));
    tracker.surrender_all();
    THEN("the running one is waited for") {
      CHECK(tracker.collect(progress::ended).empty());
      REQUIRE(tracker.resolve(given.range, 1, {}));
      const auto pending = tracker.collect(progress::ended);
      REQUIRE(pending.size() == 1);
      CHECK(pending[0].settlement.resolved_to == 16);
      CHECK(pending[0].settlement.rest == unresolved_rest::surrendered);
      const auto done = tracker.recorded(given.range);
      CHECK(done->counts.success == 2);
      CHECK(done->given_back == 1);
    }
    THEN("it may also turn out not to have started") {
      tracker.put_back(given.range, 1);
      const auto pending = tracker.collect(progress::ended);
      REQUIRE(pending.size() == 1);
      CHECK(pending[0].settlement.resolved_to == 12);
    }
  }
}

SCENARIO("a late result of a lost range does nothing", "[range_tracker]") {
  three_messages given;
  auto& tracker = given.tracker;
  REQUIRE(tracker.start(given.range, 0));
  CHECK(tracker.lose(given.range));
  CHECK_FALSE(tracker.lose(given.range));
  CHECK_FALSE(tracker.resolve(given.range, 0, {}));
  CHECK_FALSE(tracker.recorded(given.range));
  CHECK(tracker.empty());

  WHEN("the same ids are claimed again") {
    const auto again = tracker.add("other", {10, 20}, {12, 13, 17}, lease_end);
    THEN("the old handler still has no say") {
      CHECK(again != given.range);
      CHECK_FALSE(tracker.resolve(given.range, 0, {}));
      CHECK(tracker.unrecorded() == 3);
    }
  }
}

TEST_CASE("a message is resolved once", "[range_tracker]") {
  three_messages given;
  given.run(0);
  CHECK_FALSE(given.tracker.resolve(given.range, 0, failed(12)));
  CHECK_FALSE(given.tracker.start(given.range, 0));
  const auto pending = given.tracker.collect(progress::partial);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].settlement.exceptions.empty());
}

TEST_CASE("successes are listed where the history wants them",
          "[range_tracker]") {
  range_tracker tracker{true};
  const auto range = tracker.add("token", {10, 20}, {12, 13}, lease_end);
  REQUIRE(tracker.resolve(range, 0, {}));
  REQUIRE(tracker.resolve(range, 1, failed(13)));
  const auto pending = tracker.collect(progress::ended);
  REQUIRE(pending.size() == 1);
  CHECK(pending[0].settlement.successes == std::vector<message_id>{12});
}
