#include "actors/current_chunk.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

current_chunk chunk_of(std::size_t messages) {
  auto items = std::make_shared<std::vector<run_item>>(messages);
  for (auto& item : *items)
    item.options.timeout = 10s;
  current_chunk chunk;
  chunk.begin(7, std::move(items));
  return chunk;
}

run_result ran(outcome ended) { return {true, false, std::move(ended)}; }

} // namespace

SCENARIO("a failure that a shutdown caused is none of the message",
         "[current_chunk]") {
  auto chunk = chunk_of(2);
  chunk.ask_to_end(1, stop_reason::shutdown);

  WHEN("the run fails, or does not end") {
    const auto ended = GENERATE_COPY(retry("interrupted"), chunk.given_up(1));
    const auto results = chunk.finish({ran(retry("no")), ran(ended)});
    THEN("it is put off; what failed before has failed") {
      CHECK(results[0].result == retry("no"));
      CHECK(results[1].result.kind == outcome_kind::deferred);
      CHECK(results[1].result.error.ends_with(ended.error));
      CHECK_FALSE(chunk.items);
    }
  }
  WHEN("the handler says how it ended") {
    const auto ended = GENERATE(done(), dead("no"), delay(3s));
    const auto results = chunk.finish({ran(done()), ran(ended)});
    THEN("that stands") { CHECK(results[1].result == ended); }
  }
}

SCENARIO("a message that was over time before a shutdown has failed",
         "[current_chunk]") {
  auto chunk = chunk_of(1);
  chunk.ask_to_end(0, stop_reason::over_time);
  chunk.ask_to_end(0, stop_reason::shutdown);
  CHECK(chunk.given_up(0) == retry("timed out after 10s"));
  CHECK(chunk.finish({ran(retry("late"))})[0].result == retry("late"));
}

SCENARIO("what a message was asked does not hold for the next",
         "[current_chunk]") {
  auto chunk = chunk_of(2);
  chunk.ask_to_end(0, stop_reason::over_time);
  chunk.ask_to_end(1, stop_reason::shutdown);
  CHECK(chunk.finish({ran(done()), ran(retry("x"))})[1].result.kind
        == outcome_kind::deferred);

  chunk.begin(8, std::make_shared<const std::vector<run_item>>(2));
  CHECK(chunk.finish({ran(done()), ran(retry("x"))})[1].result == retry("x"));
}
