#include "actors/overdue_answers.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

SCENARIO("answers that are overdue hold places until they come", "[overdue]") {
  const auto places = std::make_shared<abandoned_runs>(1);
  {
    overdue_answers overdue{places};
    CHECK_FALSE(overdue.add({1, 0}));
    CHECK(places->count() == 1);

    WHEN("another one is overdue, without a place left") {
      REQUIRE(overdue.add({2, 3}));
      THEN("its answer frees the slot") {
        CHECK_FALSE(overdue.answered({2, 2}));
        CHECK_FALSE(overdue.answered({1, 0}));
        CHECK(places->count() == 0);
        CHECK(overdue.answered({2, 3}));
        CHECK_FALSE(overdue.answered({2, 3}));
      }
      THEN("the end of the handler frees all") {
        CHECK(overdue.clear());
        CHECK(places->count() == 0);
        CHECK_FALSE(overdue.clear());
      }
    }
    WHEN("its answer comes twice") {
      CHECK_FALSE(overdue.answered({1, 0}));
      CHECK_FALSE(overdue.answered({1, 0}));
      CHECK(places->count() == 0);
    }
  }
  // Nobody waits for the others any more.
  CHECK(places->count() == 0);
}
