#include "config/resolve.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

TEST_CASE("charge-cards: 10 s by default, 30 s at most", "[resolve]") {
  const consumer_config charge_cards{.message = {.timeout = 10s},
                                     .message_max = {.timeout = 30s}};
  REQUIRE(charge_cards.validate().empty());
  CHECK(resolve({}, charge_cards).timeout == 10s);
  CHECK(resolve({.timeout = 20s}, charge_cards).timeout == 20s);
  CHECK_FALSE(resolve({.timeout = 20s}, charge_cards).clamped);
  CHECK(resolve({.timeout = 60s}, charge_cards).timeout == 30s);
  CHECK(resolve({.timeout = 60s}, charge_cards).clamped);
}

TEST_CASE("billing: a cap below the default still caps", "[resolve]") {
  const consumer_config billing{.message = {.timeout = 30s},
                                .message_max = {.timeout = 10s},
                                .concurrency_override = concurrency::parallel};
  const auto got =
    resolve({.concurrency = concurrency::exclusive, .timeout = 20s}, billing);
  CHECK(got.timeout == 10s);
  CHECK(got.policy == concurrency::parallel);
}

TEST_CASE("a message that says nothing gets the defaults", "[resolve]") {
  const auto got = resolve({}, {});
  CHECK(got.policy == concurrency::parallel);
  CHECK(got.timeout == 30s);
  CHECK(got.retry == retry_policy{3, 0, 1s, 5min, 2});
  CHECK_FALSE(got.scheduled_at);
  CHECK_FALSE(got.clamped);
}

TEST_CASE("without message_max the group's defaults are the ceiling",
          "[resolve]") {
  CHECK(resolve({.timeout = 60s}, {}).timeout == 30s);
  CHECK(resolve({.timeout = 60s}, {}).clamped);
  CHECK(resolve({.retry = retry_policy{.max_retries = 9}}, {}).retry.max_retries
        == 3);
}

TEST_CASE("concurrency: override, message, group, parallel", "[resolve]") {
  const consumer_config group{
    .message = {.concurrency = concurrency::exclusive}};
  CHECK(resolve({}, group).policy == concurrency::exclusive);
  CHECK(resolve({.concurrency = concurrency::ordered}, group).policy
        == concurrency::ordered);
  const consumer_config overridden{
    .message = {.concurrency = concurrency::exclusive},
    .concurrency_override = concurrency::parallel};
  CHECK(resolve({.concurrency = concurrency::ordered}, overridden).policy
        == concurrency::parallel);
}

TEST_CASE("a message's retry policy falls to the group's field by field",
          "[resolve]") {
  const consumer_config group{
    .message = {.retry = retry_policy{.max_retries = 4, .base_delay = 3s}}};
  const auto got = resolve({.retry = retry_policy{.max_retries = 2}}, group);
  CHECK(got.retry == retry_policy{2, 0, 3s, 5min, 2});
}

TEST_CASE("a cap on delays holds for messages that name none", "[resolve]") {
  const consumer_config group{
    .message_max = {.retry = retry_policy{.max_delays = 5}}};
  CHECK(resolve({}, group).retry.max_delays == 5);
  CHECK_FALSE(resolve({}, group).clamped);
  CHECK(
    resolve({.retry = retry_policy{.max_delays = 9}}, group).retry.max_delays
    == 5);
}

TEST_CASE("the scheduled time passes through untouched", "[resolve]") {
  const std::chrono::system_clock::time_point noon{12h};
  CHECK(resolve({.scheduled_at = noon}, {}).scheduled_at == noon);
}

TEST_CASE("a producer's defaults are merged sparse", "[resolve]") {
  const message_options defaults{.timeout = 10s};
  CHECK(merge_producer_defaults({}, defaults) == defaults);
  CHECK(merge_producer_defaults({.timeout = 5s}, defaults).timeout == 5s);
  CHECK_FALSE(merge_producer_defaults({}, defaults).retry);
}
