#include "config/consumer_config.hpp"

#include "config/error.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sqlstreams;
using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;

namespace {

bool names(const std::vector<problem>& problems, std::string_view field) {
  return std::any_of(problems.begin(), problems.end(),
                     [&](const problem& one) { return one.field == field; });
}

} // namespace

TEST_CASE("a group's defaults", "[consumer_config]") {
  const auto group = consumer_config{}.with_defaults();
  CHECK(group.message.timeout == 30s);
  CHECK(group.message.retry == retry_policy{3, 0, 1s, 5min, 2});
  CHECK(group.message_min == message_options{});
  CHECK(group.message_max == group.message);
  CHECK_FALSE(group.concurrency_override);
  CHECK(group.start == beginning());
  CHECK(group.bindings.empty());
  CHECK(group.exception_initial_backoff == 5s);
  CHECK(group.max_range_reclaims == 3);
  CHECK_FALSE(group.paused);
  CHECK(consumer_config{}.validate().empty());
}

TEST_CASE("a ceiling inherits what it leaves unset, without concurrency",
          "[consumer_config]") {
  const consumer_config group{
    .message = {.concurrency = concurrency::ordered, .timeout = 10s},
    .message_max = {.retry = retry_policy{9}}};
  const auto resolved = group.with_defaults();
  CHECK(resolved.message_max.timeout == 10s);
  CHECK(resolved.message_max.retry->max_retries == 9);
  CHECK(resolved.message_max.retry->base_delay == 1s);
  CHECK_FALSE(resolved.message_max.concurrency);
  CHECK(group.validate().empty());
}

TEST_CASE("minimum <= default <= maximum, for each number",
          "[consumer_config]") {
  const message_options standard{.timeout = 10s,
                                 .retry = retry_policy{3, 0, 2s, 1min, 3}};
  const message_options above{.timeout = 11s,
                              .retry = retry_policy{4, 0, 3s, 2min, 4}};
  const message_options below{.timeout = 9s,
                              .retry = retry_policy{2, 0, 1s, 30s, 2}};
  const auto high_minimum =
    consumer_config{.message = standard, .message_min = above}.validate();
  const auto low_maximum =
    consumer_config{.message = standard, .message_max = below}.validate();
  CHECK(high_minimum.size() == 5);
  CHECK(low_maximum.size() == 5);
  for (std::string field : {"timeout", "retry.max_retries", "retry.base_delay",
                            "retry.max_delay", "retry.exponent"}) {
    INFO(field);
    CHECK(names(high_minimum, "message_min." + field));
    CHECK(names(low_maximum, "message_max." + field));
  }
  CHECK(consumer_config{
    .message = standard, .message_min = below, .message_max = above}
          .validate()
          .empty());
}

TEST_CASE("bounds have no concurrency", "[consumer_config]") {
  const consumer_config group{
    .message_min = {.concurrency = concurrency::parallel},
    .message_max = {.concurrency = concurrency::ordered}};
  const auto problems = group.validate();
  CHECK(problems.size() == 2);
  CHECK(names(problems, "message_min.concurrency"));
  CHECK(names(problems, "message_max.concurrency"));
}

TEST_CASE("all wrong fields are named at once", "[consumer_config]") {
  const consumer_config group{
    .message = {.timeout = -1s,
                .retry = retry_policy{.base_delay = 2s, .max_delay = 1s}},
    .start = at_message(0),
    .bindings = {"ok.*", ""},
    .exception_initial_backoff = -1s,
    .max_range_reclaims = -1};
  const auto problems = group.validate();
  for (auto field :
       {"message.timeout", "message.retry.max_delay", "start.at_message",
        "bindings", "exception_initial_backoff", "max_range_reclaims"}) {
    INFO(field);
    CHECK(names(problems, field));
  }
  CHECK_THROWS_AS(validate_or_throw(group, "group billing"), error);
}

TEST_CASE("a lease covers the longest handler and the margins",
          "[consumer_config]") {
  CHECK(range_lease({}, {}) == 30s + 100ms + 15s + 2s);
  const consumer_config group{.message_max = {.timeout = 60s}};
  CHECK(range_lease(group, {}) == 60s + 100ms + 15s + 2s);
  CHECK(range_lease(
          group, {.queue_margin = 1s, .record_margin = 1s, .timeout_grace = 1s})
        == 63s);
  CHECK(needed_to_start(5s, {}) == 5s + 100ms + 2s);
  CHECK(range_lease({.message_max = {.timeout = ns::max()}}, {}) == ns::max());
}

TEST_CASE("the shutdown budget follows the ceiling unless it is set",
          "[consumer_config]") {
  CHECK(shutdown_budget({}, {}) == 30s + 100ms + 2s);
  CHECK(shutdown_budget({.message_max = {.timeout = 60s}}, {})
        == 60s + 100ms + 2s);
  CHECK(shutdown_budget({}, {.shutdown_timeout = 3s}) == 3s);
}

TEST_CASE("an instance's defaults", "[consume_options]") {
  const auto options = consume_options{}.with_defaults();
  CHECK(options.batch_limit == 0);
  CHECK(options.batch_max == 1000);
  CHECK(options.queue_size == 0);
  CHECK(options.queue_bytes == 64 << 20);
  CHECK(options.message_concurrency == 1);
  CHECK(options.exception_concurrency == 1);
  CHECK(options.claim_poll_rate == 500ms);
  CHECK(options.queue_margin == 15s);
  CHECK(options.record_margin == 2s);
  CHECK(options.timeout_grace == 100ms);
  CHECK(options.slow_dispatch_threshold == 0s);
  CHECK(options.instance_ttl == 30s);
  CHECK(options.binding_retry_interval == 10s);
  CHECK(options.config_refresh_interval == 30s);
  CHECK(options.shutdown_timeout == 0s);
  CHECK(consume_options{}.validate().empty());
}

TEST_CASE("a queue holds at least one batch", "[consume_options]") {
  CHECK(consume_options{}.queue_capacity(50) == 100);
  CHECK(consume_options{.queue_size = 70}.queue_capacity(50) == 70);
  CHECK(
    consume_options{.batch_limit = 10, .queue_size = 10}.validate().empty());
  const consume_options small{.batch_limit = 10, .queue_size = 9};
  REQUIRE(small.validate().size() == 1);
  CHECK(small.validate()[0].field == "queue_size");
}

TEST_CASE("impossible numbers of an instance are all refused",
          "[consume_options]") {
  consume_options bad;
  bad.batch_limit = bad.batch_max = bad.queue_size = -1;
  bad.queue_bytes = bad.message_concurrency = bad.exception_concurrency = -1;
  bad.claim_poll_rate = bad.queue_margin = bad.record_margin = -1s;
  bad.timeout_grace = bad.slow_dispatch_threshold = bad.instance_ttl = -1s;
  bad.binding_retry_interval = bad.config_refresh_interval = -1s;
  bad.shutdown_timeout = -1s;
  CHECK(bad.validate().size() == 15);
}
