#include "config/options_json.hpp"

#include "config/error.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

std::string refusal(std::string_view text) {
  try {
    static_cast<void>(message_options_from_text(text));
  } catch (const error& e) {
    CHECK(e.number() == code::invalid_option);
    return e.detail();
  }
  return "accepted";
}

} // namespace

TEST_CASE("unset options are not stored", "[json]") {
  CHECK(to_json_text(message_options{}) == "{}");
  CHECK(to_json_text(consumer_config{}) == "{}");
  CHECK(to_json_text(stream_config{}) == "{}");
}

TEST_CASE("stored options read back, durations as nanoseconds", "[json]") {
  const message_options options{.concurrency = concurrency::ordered,
                                .timeout = 1500ms,
                                .retry = retry_policy{5, 2, 2s, 1min, 3},
                                .scheduled_at =
                                  std::chrono::system_clock::time_point{1h}};
  const json document = options;
  CHECK(document["timeout"] == 1'500'000'000);
  CHECK(document["concurrency"] == "ordered");
  CHECK(document.get<message_options>() == options);
  CHECK(message_options_from_text(to_json_text(options)) == options);

  const message_options present{.retry = retry_policy{}};
  CHECK(message_options_from_text(to_json_text(present)) == present);
}

TEST_CASE("a group's settings read back", "[json]") {
  for (const auto& start :
       {beginning(), head(), at_message(7),
        at_time(std::chrono::system_clock::time_point{5s})}) {
    const consumer_config group{
      .message = {.timeout = 10s},
      .message_min = {.timeout = 1s},
      .message_max = {.timeout = 30s, .retry = retry_policy{.exponent = 3}},
      .concurrency_override = concurrency::exclusive,
      .start = start,
      .bindings = {"eu.*", "\"%\n"},
      .exception_initial_backoff = 1s,
      .max_range_reclaims = 9,
      .paused = true};
    CHECK(consumer_config_from_text(to_json_text(group)) == group);
  }
}

TEST_CASE("a stream's settings read back", "[json]") {
  const stream_config stream{.partition_size = 100,
                             .retention = 30 * 24h,
                             .allow_drop_past_committed = true,
                             .idempotency_key_ttl = 1h,
                             .empty_compaction_head_ttl = 2h,
                             .delivery_log = delivery_log_mode::all,
                             .max_payload_bytes = 1000,
                             .janitor = {1s, 2, 3s, 4s},
                             .vacuum = {1s, 2s, false},
                             .compaction = {true}};
  CHECK(stream_config_from_text(to_json_text(stream)) == stream);
  CHECK(json(stream).get<stream_config>() == stream);
}

TEST_CASE("a wrong field is named, whatever is wrong with it", "[json]") {
  CHECK(refusal(R"({"timeout":"10s"})").find("timeout: ") == 0);
  CHECK(refusal(R"({"timeout":1.5})").find("timeout: ") == 0);
  CHECK(refusal(R"({"timeout":-1})").find("timeout: ") == 0);
  CHECK(refusal(R"({"timeout":9223372036854775808})").find("timeout: ") == 0);
  CHECK(refusal(R"({"timeout":null})").find("timeout: ") == 0);
  CHECK(refusal(R"({"retry":{"max_retries":2147483648}})")
          .find("retry.max_retries: ")
        == 0);
  CHECK(refusal(R"({"retry":3})").find("retry: ") == 0);
  CHECK(refusal(R"({"concurrency":"serial"})").find("concurrency: ") == 0);
  CHECK(refusal(R"({"timeot":1})").find("timeot: ") == 0);
  CHECK(refusal("[]") != "accepted");
  CHECK(refusal("nonsense") != "accepted");
  CHECK(refusal("") != "accepted");
}

TEST_CASE("a newer build's fields are passed over only when asked for",
          "[json]") {
  const auto text = R"({"timeout":5,"later":{"x":1},"retry":{"new":1}})";
  CHECK(refusal(text) != "accepted");
  const auto read = message_options_from_text(text, unknown_fields::ignore);
  CHECK(read.timeout == 5ns);
}

TEST_CASE("durations in JSON have the same bound as anywhere", "[json]") {
  const std::chrono::nanoseconds longest = 24h * 3650;
  const auto document = [](std::chrono::nanoseconds value) {
    return R"({"retry":{"max_delay":)" + std::to_string(value.count()) + "}}";
  };
  CHECK(message_options_from_text(document(longest)).retry->max_delay
        == longest);
  CHECK(refusal(document(longest + 1ns))
        == "retry.max_delay: is 3650d1ns; accepted: at most 3650d");
  CHECK(refusal(document(std::chrono::nanoseconds::max())) != "accepted");
  // Stored when more was allowed: still read.
  CHECK(message_options_from_text(document(std::chrono::nanoseconds::max()),
                                  unknown_fields::ignore)
          .retry->max_delay
        == longest);
}

TEST_CASE("a change of settings is told as old -> new", "[json]") {
  const stream_config before{.janitor = {.poll_rate = 5s}};
  const stream_config after{.retention = 30 * 24h,
                            .janitor = {.poll_rate = 1s}};
  CHECK(describe_changes(before, after)
        == "retention: unset -> 30d, janitor.poll_rate: 5s -> 1s");
  CHECK(describe_changes(after, after).empty());
  CHECK(describe_changes(consumer_config{},
                         {.message = {.retry = retry_policy{.exponent = 3}},
                          .bindings = {"a"}})
        == "message.retry.exponent: unset -> 3, bindings: [] -> [\"a\"]");
}
