#include "apps/demo/progress.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams::demo;
using namespace std::chrono_literals;

TEST_CASE("the bar shows how much is handled", "[demo]") {
  progress now{.total = 200, .produced = 150, .handled = 100, .in_flight = 20};
  now.rate = 42;
  CHECK(render_bar(now, 64)
        == "[#####.....]  50%  produced 150  handled 100  in flight 20  42/s");
}

TEST_CASE("a wide terminal has a wider bar, up to thirty columns", "[demo]") {
  const progress now{.total = 2, .produced = 2, .handled = 1};
  CHECK(render_bar(now, 200)
        == "[###############...............]  50%  handled 1 of 2  in flight "
           "0  0/s");
}

TEST_CASE("a bar with a note fits eighty columns", "[demo]") {
  progress now{.total = 20000, .produced = 20000, .handled = 20000};
  now.in_flight = 9999;
  now.rate = 12345;
  now.note = "#12 killed";
  CHECK(render_bar(now, 79).ends_with("12345/s  #12 killed"));
}

TEST_CASE("the bar never breaks the line", "[demo]") {
  progress now{.total = 200, .produced = 200, .handled = 200};
  now.note = "#2 killed";
  const std::size_t columns = GENERATE(1, 20, 60, 79, 200);
  CHECK(render_bar(now, columns).size() <= columns);
}

TEST_CASE("a run without orders is complete", "[demo]") {
  CHECK(render_bar({}, 80).find("100%") != std::string::npos);
}

TEST_CASE("plain progress is words alone", "[demo]") {
  progress now{.total = 9, .produced = 8, .handled = 7, .in_flight = 1};
  now.note = "#1 killed";
  CHECK(render_plain(now)
        == "produced 8  handled 7  in flight 1  0/s  #1 killed");
}

SCENARIO("the rate is that of the last two seconds", "[demo]") {
  GIVEN("a fast second, then slow ones") {
    rate_meter rate;
    const rate_meter::time start{};
    CHECK(rate.per_second() == 0);
    rate.note(start, 0);
    CHECK(rate.per_second() == 0);
    rate.note(start + 1s, 1000);
    CHECK(rate.per_second() == Approx(1000));
    rate.note(start + 2s, 1010);
    rate.note(start + 3s, 1020);
    THEN("the fast one is forgotten") {
      CHECK(rate.per_second() == Approx(10));
    }
  }
}
