#include "storage/message_checks.hpp"

#include "storage/json_number.hpp"

#include <catch2/catch.hpp>

#include <optional>
#include <string>

using namespace sqlstreams;

namespace {

std::optional<code> refusal(const new_message& candidate,
                            const message_limits& limits = {}) {
  const auto found = check_message(candidate, limits);
  return found ? std::optional{found->number()} : std::nullopt;
}

new_message json_message(std::string payload) {
  return {.payload = std::move(payload)};
}

std::string nested(int depth) {
  const auto n = static_cast<std::size_t>(depth);
  return std::string(n, '[') + std::string(n, ']');
}

} // namespace

TEST_CASE("valid JSON of any kind may be produced", "[message_checks]") {
  const auto payload =
    GENERATE(values<std::string>({"{}", "null", "0", "\"\"", "[1,2.5e3,true]",
                                  R"({"a":"\u00e9 \ud83d\ude00 \\u0000"})",
                                  "\"\xF0\x9F\x98\x80\"", nested(1000)}));
  CHECK_FALSE(refusal(json_message(payload)));
}

TEST_CASE("what is no JSON is refused", "[message_checks]") {
  const auto payload = GENERATE(values<std::string>(
    {"", " ", "{", "{\"a\":}", "nul", "1 2", "'a'", "\"\\ud800\"",
     "\"\\udc00x\"", "\"a\nb\"", "[1,]", "\xEF\xBB\xBF{}", nested(1001)}));
  INFO(payload.substr(0, 20));
  CHECK(refusal(json_message(payload)) == code::payload_not_json);
}

TEST_CASE("what PostgreSQL cannot store is refused, naming the field",
          "[message_checks]") {
  CHECK(refusal(json_message("\"a\\u0000b\"")) == code::text_has_nul);
  CHECK(refusal(json_message("{\"\\u0000\":1}")) == code::text_has_nul);
  CHECK(refusal(json_message(std::string{"\"a\0b\"", 5}))
        == code::text_has_nul);
  CHECK(refusal(json_message("\"\xC3\x28\"")) == code::invalid_utf8);
  CHECK(refusal({.payload = "1", .routing_key = "\xFF"}) == code::invalid_utf8);
  CHECK(refusal({.payload = "1", .message_key = std::string{"a\0b", 3}})
        == code::text_has_nul);
  CHECK(refusal({.payload = "1", .idempotency_key = "\xFE"})
        == code::invalid_utf8);
  CHECK(refusal({.payload = "1", .headers = {{"a", std::string{"\0", 1}}}})
        == code::text_has_nul);
  CHECK(refusal({.payload = "1", .headers = {{"", "x"}}})
        == code::invalid_header);
  const auto found = check_message({.payload = "1", .message_key = "\xFF"}, {});
  REQUIRE(found);
  CHECK(found->detail().find("message_key") != std::string::npos);
}

TEST_CASE("a number fits as long as the server can keep all its digits",
          "[message_checks]") {
  const std::string zeros(20'000, '0');
  for (const auto& number :
       {std::string{"0"}, std::string{"-1.5e3"}, std::string{"0e200000"},
        std::string{"1e131071"}, std::string{"-10e131070"},
        std::string{"0.1E+131072"}, std::string{"0.001e131074"},
        std::string{"1e-16383"}, std::string{"0.1e-16382"},
        std::string{"5e-324"}, "1" + std::string(131'071, '0'),
        "0." + std::string(16'383, '0'), "1." + zeros + "e20000"}) {
    INFO(number.substr(0, 20));
    CHECK(fits_numeric(number));
  }
  for (const auto& number :
       {std::string{"1e131072"}, std::string{"-10e131071"},
        std::string{"0.1E+131073"}, std::string{"1e-16384"},
        std::string{"0.1e-16383"}, std::string{"0e-16384"},
        std::string{"0e99999999999999999999"},
        std::string{"1e-99999999999999999999"}, "1" + std::string(131'072, '0'),
        "0." + std::string(16'384, '0')}) {
    INFO(number.substr(0, 20));
    CHECK_FALSE(fits_numeric(number));
  }
}

TEST_CASE("a number out of range is refused, naming the field",
          "[message_checks]") {
  for (const auto* number : {"1e200000", "-1e400", "1e-20000", "0e-20000"}) {
    INFO(number);
    const auto found =
      check_message(json_message("{\"n\":" + std::string{number} + "}"), {});
    REQUIRE(found);
    CHECK(found->number() == code::payload_not_json);
    CHECK(found->detail().find("payload: the number") == 0);
    CHECK(found->detail().find(number) != std::string::npos);
  }
  CHECK_FALSE(refusal(json_message("[1e308,1e-16383,-5e-324]")));
}

TEST_CASE("an encoder's JSON is trusted, but for NUL", "[message_checks]") {
  new_message candidate{.payload = "\"a\\u0000\""};
  candidate.origin = payload_origin::encoder;
  CHECK(refusal(candidate) == code::text_has_nul);
  candidate.payload = R"("a\\u0000")"; // an escaped backslash: no NUL
  CHECK_FALSE(refusal(candidate));
}

TEST_CASE("bytes with a content type are stored as they are",
          "[message_checks]") {
  CHECK_FALSE(refusal({.payload = std::string{"\0\xFF", 2},
                       .content_type = "application/octet-stream"}));
  CHECK_FALSE(refusal({.payload = "", .content_type = "text/plain"}));
}

TEST_CASE("the size limit is inclusive", "[message_checks]") {
  const message_limits limits{.max_payload_bytes = 10};
  CHECK_FALSE(refusal(json_message("\"12345678\""), limits));
  CHECK(refusal(json_message("\"123456789\""), limits)
        == code::payload_too_large);
  CHECK(refusal({.payload = "1", .message_key = std::string(1025, 'k')})
        == code::invalid_option);
  CHECK_FALSE(refusal({.payload = "1", .message_key = std::string(1024, 'k')}));
}

TEST_CASE("a policy that needs a key is refused without one",
          "[message_checks]") {
  new_message candidate{.payload = "1"};
  candidate.options.concurrency = concurrency::ordered;
  CHECK(refusal(candidate) == code::key_required);
  candidate.message_key = "k";
  CHECK_FALSE(refusal(candidate));
  CHECK(refusal(candidate, {.compacted = true}) == code::invalid_option);
  CHECK(refusal({.payload = "1"}, {.compacted = true}) == code::key_required);
  CHECK(refusal({.payload = "1", .schema_version = 0})
        == code::invalid_schema_version);
}
