#include "config/producer_config.hpp"
#include "config/stream_config.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

TEST_CASE("a stream's defaults", "[stream_config]") {
  const auto stream = stream_config{}.with_defaults();
  CHECK(stream.partition_size == 1'000'000);
  CHECK(stream.retention == 0s);
  CHECK_FALSE(stream.allow_drop_past_committed);
  CHECK(stream.idempotency_key_ttl == 24h);
  CHECK(stream.empty_compaction_head_ttl == 1h);
  CHECK(stream.delivery_log == delivery_log_mode::failures);
  CHECK(stream.max_payload_bytes == 16 << 20);
  CHECK(stream.janitor == janitor_config{5s, 1000, 5s, 0s});
  CHECK(stream.vacuum == vacuum_config{2min, 1min, true});
  CHECK_FALSE(stream.compaction.enabled);
  CHECK(stream_config{.retention = 30 * 24h}.validate().empty());
}

TEST_CASE("a partition holds at least two ids", "[stream_config]") {
  CHECK(stream_config{.partition_size = 2}.validate().empty());
  for (std::int64_t size : {1LL, -1LL, 9'000'000'000'000'000'000LL}) {
    const auto problems = stream_config{.partition_size = size}.validate();
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].field == "partition_size");
  }
}

TEST_CASE("history modes have names", "[stream_config]") {
  for (auto mode : {delivery_log_mode::failures, delivery_log_mode::all,
                    delivery_log_mode::off})
    CHECK(parse_delivery_log_mode(to_string(mode)) == mode);
  CHECK_FALSE(parse_delivery_log_mode("some"));
}

TEST_CASE("a producer's defaults", "[producer_config]") {
  const auto producer = producer_config{}.with_defaults();
  CHECK(producer.message == message_options{});
  CHECK(producer.batch == batch_config{100, 4, 10s, 15s});
  CHECK(producer.slow_produce_threshold == 0s);
  CHECK(producer.max_waiting == 10'000);
  CHECK(producer_config{}.validate().empty());
}

TEST_CASE("the shutdown grace exceeds an attempt or is negative",
          "[producer_config]") {
  CHECK(producer_config{.batch = {.shutdown_grace = -1s}}.validate().empty());
  const auto problems =
    producer_config{.batch = {.attempt_timeout = 20s}}.validate();
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].field == "batch.shutdown_grace");
}

TEST_CASE("retries and attempts together fit the duration type",
          "[producer_config]") {
  const producer_config producer{
    .batch = {.attempt_timeout = 24h * 3650, .shutdown_grace = -1s}};
  const auto problems = producer.validate({.max_retries = 30});
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].field == "batch.attempt_timeout");
  CHECK(producer.validate({.max_retries = 1}).empty());
}

TEST_CASE("no duration is longer than ten years", "[stream_config]") {
  const auto longest = std::chrono::nanoseconds{24h * 3650};
  const auto name_of = [](const std::vector<problem>& problems) {
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].what == "is 3650d1ns");
    CHECK(problems[0].accepted.find("at most 3650d") != std::string::npos);
    return problems[0].field;
  };
  CHECK(stream_config{.retention = longest}.validate().empty());
  CHECK(name_of(stream_config{.retention = longest + 1ns}.validate())
        == "retention");
  CHECK(
    name_of(stream_config{.janitor = {.poll_rate = longest + 1ns}}.validate())
    == "janitor.poll_rate");
  CHECK(
    producer_config{.batch = {.shutdown_grace = longest}}.validate().empty());
  CHECK(
    name_of(
      producer_config{.batch = {.shutdown_grace = longest + 1ns}}.validate())
    == "batch.shutdown_grace");
  CHECK(producer_config{.batch = {.shutdown_grace = -longest - 1ns}}
          .validate()
          .size()
        == 1);
  CHECK(
    name_of(producer_config{.message = {.timeout = longest + 1ns}}.validate())
    == "message.timeout");
}
