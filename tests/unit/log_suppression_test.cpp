#include "actors/log_suppression.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

SCENARIO("a line that repeats is written once a minute, with a count",
         "[log]") {
  GIVEN("a line that was written") {
    log_suppression suppression{1min};
    const log_suppression::time_point start{};
    REQUIRE(suppression.offer("claim failed", start) == 0u);

    WHEN("it comes twice more within the minute") {
      CHECK(suppression.offer("claim failed", start + 1s) == std::nullopt);
      CHECK(suppression.offer("claim failed", start + 59s) == std::nullopt);

      THEN("the next one after the minute says that two were left out") {
        CHECK(suppression.offer("claim failed", start + 60s) == 2u);
        AND_THEN("the count begins anew") {
          CHECK(suppression.offer("claim failed", start + 61s) == std::nullopt);
          CHECK(suppression.offer("claim failed", start + 120s) == 1u);
        }
      }
    }

    WHEN("another line comes") {
      THEN("it is written") {
        CHECK(suppression.offer("slow produce", start) == 0u);
      }
    }
  }

  GIVEN("more different lines than a program has") {
    log_suppression suppression{1min};
    const log_suppression::time_point start{};
    for (int i = 0; i < 5000; ++i)
      REQUIRE(suppression.offer(std::to_string(i), start + i * 1s) == 0u);
    THEN("those of the last minute are still known") {
      CHECK(suppression.offer("4999", start + 5000s) == std::nullopt);
    }
  }
}
