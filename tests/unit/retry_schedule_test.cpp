#include "actors/retry_schedule.hpp"

#include <catch2/catch.hpp>

#include <vector>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

std::vector<std::chrono::nanoseconds> all_delays(const retry_policy& policy,
                                                 std::uint32_t seed) {
  retry_schedule schedule{policy, seed};
  std::vector<std::chrono::nanoseconds> delays;
  for (int attempts = 1;; ++attempts) {
    const auto delay =
      schedule.next(attempts, recovery::transient, repeatability::if_not_done);
    if (!delay)
      return delays;
    delays.push_back(*delay);
  }
}

} // namespace

SCENARIO("a call is repeated only if that does no harm", "[retry]") {
  retry_schedule schedule{{}};
  const auto repeats = [&](recovery failure, repeatability call) {
    return schedule.next(1, failure, call).has_value();
  };

  GIVEN("a failure that did nothing") {
    CHECK(repeats(recovery::transient, repeatability::always));
    CHECK(repeats(recovery::transient, repeatability::if_not_done));
    CHECK_FALSE(repeats(recovery::transient, repeatability::never));
  }
  GIVEN("a failure of which nobody knows what it did") {
    CHECK(repeats(recovery::unknown, repeatability::always));
    CHECK_FALSE(repeats(recovery::unknown, repeatability::if_not_done));
    CHECK_FALSE(repeats(recovery::unknown, repeatability::never));
  }
  GIVEN("a failure that stays") {
    CHECK_FALSE(repeats(recovery::permanent, repeatability::always));
    CHECK_FALSE(repeats(recovery::permanent, repeatability::if_not_done));
    CHECK_FALSE(repeats(recovery::permanent, repeatability::never));
  }
}

SCENARIO("the pauses between attempts follow the policy", "[retry]") {
  GIVEN("the default policy: six attempts, one second doubling") {
    const auto delays = all_delays({}, 1);
    THEN("there are five pauses") { REQUIRE(delays.size() == 5); }
    THEN("each is shortened by at most a tenth") {
      auto full = std::chrono::nanoseconds{1s};
      for (auto delay : delays) {
        CHECK(delay <= full);
        CHECK(delay >= full * 9 / 10);
        full *= 2;
      }
    }
    THEN("together they sit out twenty seconds, whatever the seed") {
      for (std::uint32_t seed = 1; seed < 200; ++seed) {
        std::chrono::nanoseconds total{};
        for (auto delay : all_delays({}, seed))
          total += delay;
        CHECK(total > 20s);
      }
    }
    THEN("another seed gives other pauses, the same the same") {
      CHECK(all_delays({}, 7) != delays);
      CHECK(all_delays({}, 1) == delays);
    }
  }
  GIVEN("a policy of a single attempt") {
    THEN("there is no pause") {
      CHECK(all_delays({.max_retries = 1}, 1).empty());
    }
  }
}

SCENARIO("the deadline of a call covers all its attempts", "[retry]") {
  CHECK(
    storage_deadline({.max_retries = 3, .base_delay = 1s, .exponent = 2}, 10s)
    == 33s);
  CHECK(
    storage_deadline({.max_retries = 1'000'000}, std::chrono::hours{24 * 365})
    == std::chrono::nanoseconds::max());
}
