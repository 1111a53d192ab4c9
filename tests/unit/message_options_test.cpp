#include "config/message_options.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;
using maybe = std::optional<message_options>;

namespace {

const std::chrono::system_clock::time_point noon{12h};

} // namespace

TEST_CASE("fill takes what is unset from the defaults, field by field",
          "[options]") {
  const message_options own{
    .timeout = 10s, .retry = retry_policy{.max_retries = 5, .base_delay = 2s}};
  const message_options defaults{.concurrency = concurrency::ordered,
                                 .timeout = 30s,
                                 .retry = retry_policy{3, 4, 1s, 5min, 2}};
  const auto filled = fill(own, defaults);
  CHECK(filled.concurrency == concurrency::ordered);
  CHECK(filled.timeout == 10s);
  CHECK(filled.retry == retry_policy{5, 4, 2s, 5min, 2});
  CHECK(fill(message_options{}, defaults).retry == defaults.retry);
  CHECK(own.retry->max_delay == 0s); // its input is left alone
}

TEST_CASE("nothing stays nothing", "[options]") {
  CHECK(fill(maybe{}, maybe{}) == std::nullopt);
  CHECK(clamp(maybe{}, maybe{message_options{.timeout = 5s}}, maybe{})
        == std::nullopt);
  CHECK(fill(maybe{}, maybe{message_options{.timeout = 5s}})->timeout == 5s);
}

TEST_CASE("the concurrency of nothing is the override or parallel",
          "[options]") {
  CHECK(resolve_concurrency(std::nullopt, std::nullopt)
        == message_options{.concurrency = concurrency::parallel});
  CHECK(resolve_concurrency(std::nullopt, concurrency::ordered)
        == message_options{.concurrency = concurrency::ordered});
  const message_options exclusive{.concurrency = concurrency::exclusive,
                                  .timeout = 1s};
  CHECK(resolve_concurrency(exclusive, std::nullopt) == exclusive);
  CHECK(resolve_concurrency(exclusive, concurrency::parallel).concurrency
        == concurrency::parallel);
}

TEST_CASE("clamp applies positive bounds only", "[options]") {
  const message_options low{.timeout = 5s,
                            .retry = retry_policy{2, 1, 2s, 3s, 2}};
  const message_options high{.timeout = 10s,
                             .retry = retry_policy{4, 3, 4s, 5s, 3}};
  const message_options below{.timeout = 1s,
                              .retry = retry_policy{1, 1, 1s, 1s, 1}};
  const message_options above{.timeout = 1h,
                              .retry = retry_policy{9, 9, 9s, 9s, 9}};
  CHECK(clamp(below, low, high).timeout == 5s);
  CHECK(clamp(below, low, high).retry == retry_policy{2, 1, 2s, 3s, 2});
  CHECK(clamp(above, low, high).timeout == 10s);
  CHECK(clamp(above, low, high).retry == retry_policy{4, 3, 4s, 5s, 3});
  CHECK(clamp(above, message_options{}, message_options{}) == above);
}

TEST_CASE("no cap on delays is above any maximum", "[options]") {
  const message_options endless{.retry = retry_policy{.max_delays = 0}};
  const message_options high{.retry = retry_policy{.max_delays = 5}};
  CHECK(clamp(endless, {}, high).retry->max_delays == 5);
  CHECK(clamp(endless, high, {}).retry->max_delays == 0);
}

TEST_CASE("defaults and bounds neither supply nor change scheduled_at",
          "[options]") {
  const message_options other{.scheduled_at = noon + 1h};
  const message_options own{.scheduled_at = noon};
  CHECK(fill(message_options{}, other).scheduled_at == std::nullopt);
  CHECK(fill(maybe{}, maybe{other})->scheduled_at == std::nullopt);
  CHECK(fill(own, other).scheduled_at == noon);
  CHECK(clamp(own, other, other).scheduled_at == noon);
}

TEST_CASE("equality compares what is stored", "[options]") {
  CHECK(message_options{} == message_options{});
  CHECK(message_options{} != message_options{.retry = retry_policy{}});
  CHECK(message_options{.timeout = 30s} != message_options{});
  CHECK(message_options{.retry = retry_policy{.max_delays = 1}}
        != message_options{.retry = retry_policy{}});
  CHECK(message_options{.scheduled_at = noon}
        == message_options{.scheduled_at =
                             std::chrono::system_clock::time_point{720min}});
}

TEST_CASE("the options of a message may be unset but not negative",
          "[options]") {
  CHECK(validate_sparse({}).empty());
  const message_options bad{.timeout = -1s,
                            .retry = retry_policy{-1, -1, -1s, -1s, -1}};
  CHECK(validate_sparse(bad).size() == 6);
}
