#include "apps/bench/measure/payload.hpp"
#include "apps/bench/measure/rate.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/scratch_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <string>

using namespace sqlstreams::bench;

TEST_CASE("payloads are JSON of exactly the stated size", "[bench]") {
  const std::int64_t number = GENERATE(0, 7, 999, 123'456'789);
  CHECK(payload(number).size() == payload_bytes);
  CHECK(nlohmann::json::parse(payload(number))["number"] == number);
}

TEST_CASE("both sides store the same rows", "[bench]") {
  const auto lines = copy_lines(41, 2);
  const auto made = messages(41, 2);
  CHECK(lines
        == made[0].message_key + '\t' + made[0].payload + '\n'
             + made[1].message_key + '\t' + made[1].payload + '\n');
}

TEST_CASE("a ratio is taken within each repetition", "[bench]") {
  comparison measured{.name = "produce", .limit = {100, 200, 400}};
  measured.streams = {90, 100, 300};
  const auto ratio = ratio_of(measured);
  CHECK(ratio.median == Approx(0.75));
  CHECK(ratio.low == Approx(0.5));
  CHECK(ratio.high == Approx(0.9));
}

TEST_CASE("the middle of an even number of values lies between two",
          "[bench]") {
  CHECK(spread_of({4, 1, 3, 2}).median == Approx(2.5));
}

TEST_CASE("a figure that falls short is printed as such", "[bench]") {
  comparison measured{
    .name = "consume", .limit = {100}, .streams = {50}, .goal = 0.6};
  CHECK(to_text(measured).find("falls short") != std::string::npos);
  measured.streams = {61};
  CHECK(to_text(measured).find("falls short") == std::string::npos);
  CHECK(nlohmann::json::parse(to_json({measured}))["comparisons"][0]["name"]
        == "consume");
}

SCENARIO("the benchmark measures both sides and writes its figures",
         "[bench]") {
  const sqlstreams::test::scratch_folder folder;
  GIVEN("a short run") {
    const auto file = (folder.path() / "figures.json").string();
    const auto result = sqlstreams::test::run_command(
      {.argv = {std::string{SQLSTREAMS_PROGRAMS} + "/bench_first", "--seconds",
                "1", "--messages", "2000", "--repetitions", "1", "--json",
                file}},
      std::chrono::seconds{240});
    INFO(result.out << result.err);
    THEN("there is a ratio for producing and one for consuming") {
      REQUIRE(result.status == 0);
      std::ifstream written{file};
      const auto figures = nlohmann::json::parse(written);
      REQUIRE(figures["comparisons"].size() == 2);
      for (const auto& one : figures["comparisons"])
        CHECK(one["ratio"]["median"] > 0);
    }
  }
}
