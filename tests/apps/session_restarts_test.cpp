#include "apps/sqlstreams/session_restarts.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

SCENARIO("a node starts failed sessions again, ever more slowly",
         "[session_restarts]") {
  GIVEN("a node that restarts, from 1 s, doubling, up to 5 s") {
    session_restarts restarts{
      session_end_action::restart,
      {.base_delay = 1s, .max_delay = 5s, .exponent = 2}};

    WHEN("a session fails again and again") {
      THEN("pauses grow up to the cap and never end") {
        CHECK(restarts.ended(recovery::transient, 0s) == 1s);
        CHECK(restarts.ended(recovery::unknown, 1s) == 2s);
        CHECK(restarts.ended(recovery::transient, 1s) == 4s);
        for (int i = 0; i < 100; ++i)
          CHECK(restarts.ended(recovery::transient, 1s) == 5s);
      }
    }

    WHEN("one lived long in between") {
      restarts.ended(recovery::transient, 0s);
      restarts.ended(recovery::transient, 0s);
      THEN("pauses begin anew") {
        CHECK(restarts.ended(recovery::transient, 1h) == 1s);
      }
    }

    WHEN("the error would recur") {
      THEN("the node ends") {
        CHECK(restarts.ended(recovery::permanent, 1h) == std::nullopt);
      }
    }
  }

  GIVEN("a node that is to stop at any error") {
    session_restarts restarts{session_end_action::stop};
    THEN("it ends whatever the error is") {
      CHECK(restarts.ended(recovery::transient, 1h) == std::nullopt);
    }
  }
}
