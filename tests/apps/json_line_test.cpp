#include "actors/json_line.hpp"

#include "actors/timestamp_text.hpp"
#include "apps/sqlstreams/key_field.hpp"

#include <catch2/catch.hpp>

#include <limits>

using namespace sqlstreams;

TEST_CASE("a JSON line keeps the order of its fields and escapes texts",
          "[json_line]") {
  CHECK(json_line{}.str() == "{}");
  CHECK(json_line{}
          .add("b", "x\"y\n")
          .add("a", true)
          .add("n", std::numeric_limits<std::int64_t>::min())
          .add_optional("none", "")
          .str()
        == R"({"b":"x\"y\n","a":true,"n":-9223372036854775808,"none":null})");
}

TEST_CASE("a text that is not UTF-8 does not break a JSON line",
          "[json_line]") {
  CHECK(json_line{}.add("t", "a\xc3(").str() == "{\"t\":\"a\xef\xbf\xbd(\"}");
}

TEST_CASE("stored JSON is embedded as it is, on one line", "[json_line]") {
  CHECK(json_line{}.add_json("p", "{\"n\":\n1.50e400}").str()
        == "{\"p\":{\"n\": 1.50e400}}");
  const std::string deep(200'000, '[');
  CHECK(json_line{}.add_json("p", deep).str().size() == deep.size() + 6);
}

TEST_CASE("bytes are shown in base64", "[json_line]") {
  CHECK(base64("").empty());
  CHECK(base64("f") == "Zg==");
  CHECK(base64("fo") == "Zm8=");
  CHECK(base64("foo") == "Zm9v");
  CHECK(base64(std::string_view("\0\xff\xfe", 3)) == "AP/+");
}

TEST_CASE("a key is taken from a scalar field of a JSON object",
          "[key_field]") {
  CHECK(key_field(R"({"k":"a"})", "k") == "a");
  CHECK(key_field(R"({"k":17})", "k") == "17");
  CHECK(key_field(R"({"k":true})", "k") == "true");
  for (const auto* without : {R"({})", R"({"k":null})", R"({"k":{}})",
                              R"({"k":[1]})", R"({"k":""})", "[]", "7"})
    CHECK(key_field(without, "k") == std::nullopt);
}

TEST_CASE("a time is shown in UTC with all its digits", "[timestamp_text]") {
  using namespace std::chrono;
  CHECK(timestamp_text(timestamp{}) == "1970-01-01T00:00:00.000000Z");
  const auto leap_day = sys_days{2024y / February / 29};
  CHECK(timestamp_text(leap_day + 23h + 59min + 1s + 70us)
        == "2024-02-29T23:59:01.000070Z");
}
