#include "config/duration.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;
using ns = std::chrono::nanoseconds;

TEST_CASE("durations are read as people write them", "[duration]") {
  const std::pair<const char*, ns> cases[] = {
    {"0", 0ns},
    {"0s", 0ns},
    {"250ms", 250ms},
    {"30s", 30s},
    {"1h30m", 90min},
    {"30d", 30 * 24h},
    {"1.5s", 1500ms},
    {"0.25h", 15min},
    {"1m0.5s", 60500ms},
    {"7us3ns", 7003ns},
    {"1d1h", 25h},
    {"1.000000000s", 1s},
    {"9223372036854775807ns", ns::max()},
  };
  for (const auto& [text, value] : cases) {
    INFO(text);
    CHECK(parse_duration(text) == value);
  }
}

TEST_CASE("what is no duration is refused", "[duration]") {
  for (auto text : {"",
                    " ",
                    "30",
                    "30 s",
                    " 30s",
                    "30s ",
                    "-1s",
                    "+1s",
                    "s",
                    "1x",
                    "1S",
                    "1h30",
                    ".5s",
                    "1.s",
                    "1..5s",
                    "1e3s",
                    "0x1s",
                    "0.5ns",
                    "inf",
                    "1,5s",
                    "9223372036854775808ns",
                    "106752d",
                    "99999999999999999999d"}) {
    INFO(text);
    CHECK_FALSE(parse_duration(text));
  }
}

TEST_CASE("a written duration reads back", "[duration]") {
  CHECK(format_duration(0ns) == "0");
  CHECK(format_duration(90min) == "1h30m");
  CHECK(format_duration(250ms) == "250ms");
  CHECK(format_duration(30 * 24h) == "30d");
  CHECK(format_duration(-1500ms) == "-1s500ms");
  for (ns value : {ns{0}, ns{1}, ns{999}, ns{1s}, ns{25h}, ns::max(),
                   ns{86'400'000'000'001}}) {
    INFO(value.count());
    CHECK(parse_duration(format_duration(value)) == value);
  }
  CHECK(format_duration(ns::min()).starts_with("-106751d"));
}
