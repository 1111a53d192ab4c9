#include "config/retry_policy.hpp"

#include "config/error.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace sqlstreams;
using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;

TEST_CASE("each job of a retry policy has its defaults", "[retry]") {
  const auto database = retry_policy{}.with_defaults(retry_job::database);
  CHECK(database == retry_policy{6, 0, 1s, 5min, 2});
  const auto redelivery = retry_policy{}.with_defaults(retry_job::redelivery);
  CHECK(redelivery == retry_policy{3, 0, 1s, 5min, 2});
  const retry_policy own{5, 2, 2s, 1min, 3};
  CHECK(own.with_defaults(retry_job::database) == own);
}

TEST_CASE("the curve grows from the base and stops at the cap", "[retry]") {
  const retry_policy policy{4, 0, 1s, 5s, 2};
  CHECK(policy.calculate_delay(0) == 1s);
  CHECK(policy.calculate_delay(1) == 2s);
  CHECK(policy.calculate_delay(2) == 4s);
  CHECK(policy.calculate_delay(3) == 5s);
  CHECK(policy.calculate_delay(4) == 5s); // not stopped by max_retries
}

TEST_CASE("four attempts sleep 1 s, 2 s and 4 s in all", "[retry]") {
  CHECK(retry_policy{4, 0, 1s, 5s, 2}.calculate_total_delay() == 7s);
  CHECK(retry_policy{4, 9, 1s, 5s, 2}.calculate_total_delay() == 7s);
  CHECK(retry_policy{1, 0, 1s, 5s, 2}.calculate_total_delay() == 0s);
  CHECK(retry_policy{5, 0, 2s, 5s, 1}.calculate_total_delay() == 8s);
}

TEST_CASE("every delay of every attempt is positive and at most the cap",
          "[retry]") {
  const retry_policy policies[] = {
    {5000, 0, 1s, 1h, 2},
    {5000, 0, 1ns, ns::max(), 2},
    {5000, 0, ns::max(), ns::max(), std::numeric_limits<int>::max()},
    {1, 0, 1s, 1h, 1},
    {},
    {-1, -1, -1s, -1s, -1},
  };
  const std::int64_t attempts[] = {
    -1,         0,          1,
    30,         31,         32,
    62,         63,         64,
    1023,       1024,       4999,
    2147483647, 2147483648, std::numeric_limits<std::int64_t>::max()};
  for (const auto& policy : policies) {
    const auto cap = policy.max_delay > 0s ? policy.max_delay : ns{5min};
    for (auto attempt : attempts) {
      INFO(attempt);
      CHECK(policy.calculate_delay(attempt) > 0s);
      CHECK(policy.calculate_delay(attempt) <= cap);
    }
  }
}

TEST_CASE("a total sleep beyond the duration type is refused", "[retry]") {
  const auto most = std::numeric_limits<int>::max();
  CHECK(retry_policy{most, 0, 1s, 1s, 1}.validate().empty());
  CHECK(retry_policy{most, 0, 1s, 1s, 1}.calculate_total_delay()
        == std::chrono::seconds{most - 1});
  const retry_policy endless{most, 0, 1s, 5min, 2};
  REQUIRE(endless.validate().size() == 1);
  CHECK(endless.validate()[0].field == "max_retries");
  CHECK(endless.calculate_total_delay() == ns::max());
}

TEST_CASE("a retry policy reports all its problems at once", "[retry]") {
  CHECK(retry_policy{}.validate().empty());
  const retry_policy bad{-1, -1, -1s, -1s, -1};
  CHECK(bad.validate().size() == 5);
  const retry_policy capped_below_base{3, 0, 2s, 1s, 2};
  REQUIRE(capped_below_base.validate().size() == 1);
  CHECK(capped_below_base.validate()[0].field == "max_delay");
  CHECK(capped_below_base.validate()[0].other_field == "base_delay");
  try {
    validate_or_throw(bad, "policy");
    FAIL("not refused");
  } catch (const error& e) {
    CHECK(e.number() == code::invalid_option);
    for (auto field :
         {"max_retries", "max_delays", "base_delay", "max_delay", "exponent"})
      CHECK(e.detail().find(field) != std::string::npos);
  }
}
