#include "actors/claim_batch.hpp"
#include "actors/handler_pace.hpp"
#include "actors/run_allowance.hpp"
#include "actors/run_watch.hpp"
#include "actors/shutdown_plan.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

claim_batch automatic(int handlers = 1) {
  return claim_batch{{0, 1000, 15s, handlers}};
}

} // namespace

SCENARIO("an automatic batch converges on the handler's pace",
         "[claim_batch]") {
  auto batch = automatic();
  CHECK(batch.size(std::nullopt) == 100);

  WHEN("the handler is fast") {
    THEN("it doubles up to the largest") {
      std::vector<int> sizes;
      for (int i = 0; i < 5; ++i) {
        sizes.push_back(batch.size(1us));
        batch.claimed(sizes.back());
      }
      CHECK(sizes == std::vector<int>{100, 200, 400, 800, 1000});
    }
  }
  WHEN("the handler takes 100 ms") {
    THEN("a batch takes half of the queue's margin") {
      CHECK(batch.size(100ms) == 75);
    }
    THEN("several handlers take more") {
      auto wide = automatic(4);
      wide.claimed(100);
      wide.claimed(200);
      CHECK(wide.size(100ms) == 300);
    }
  }
  WHEN("the handler takes longer than the margin") {
    THEN("one message is claimed at a time") { CHECK(batch.size(20s) == 1); }
  }
  WHEN("messages waited beyond their lease") {
    batch.lease_was_too_short();
    THEN("the batch is halved for some claims") {
      CHECK(batch.size(1us) == 50);
      batch.claimed(50);
      CHECK(batch.size(1us) == 50);
      for (int i = 0; i < 4; ++i)
        batch.claimed(50);
      CHECK(batch.size(1us) == 100);
    }
  }
}

TEST_CASE("a fixed batch stays what it is", "[claim_batch]") {
  claim_batch batch{{7, 1000, 15s, 1}};
  CHECK(batch.size(std::nullopt) == 7);
  CHECK(batch.size(1us) == 7);
  CHECK(batch.size(1h) == 7);
}

TEST_CASE("no batch is larger than batch_max", "[claim_batch]") {
  claim_batch batch{{0, 20, 15s, 1}};
  CHECK(batch.size(std::nullopt) == 20);
  batch.claimed(20);
  CHECK(batch.size(1ns) == 20);
}

TEST_CASE("the pace follows what handlers take", "[claim_batch]") {
  handler_pace pace;
  CHECK_FALSE(pace.per_message());
  pace.observe(0, 1s);
  CHECK_FALSE(pace.per_message());
  pace.observe(10, 10ms);
  CHECK(pace.per_message() == 1ms);
  for (int i = 0; i < 10; ++i)
    pace.observe(1, 100ms);
  CHECK(*pace.per_message() > 90ms);
  pace.observe(100, 0ns);
  CHECK(*pace.per_message() >= 1ns);
}

TEST_CASE("a session with max_messages claims no more than are left",
          "[run_allowance]") {
  run_allowance all;
  CHECK(all.left(1'000'000) == run_allowance::unlimited);
  CHECK_FALSE(all.used_up());

  run_allowance three{3};
  CHECK(three.left(0) == 3);
  CHECK(three.left(2) == 1);
  CHECK(three.left(9) == 0);
  three.record(2);
  CHECK(three.left(1) == 0);
  CHECK_FALSE(three.used_up());
  three.record(1);
  CHECK(three.used_up());
}

TEST_CASE("every step of a shutdown is within its budget", "[shutdown_plan]") {
  const auto usual = plan_shutdown(32100ms, 100ms, 2s);
  CHECK(usual.stop_handlers == 30s);
  CHECK(usual.abandon_handlers == 30100ms);
  CHECK(usual.end == 32100ms);

  for (const auto budget : {0ns, 1ns, 100000000ns, 1000000000ns}) {
    const auto plan = plan_shutdown(budget, 100ms, 2s);
    CHECK(plan.stop_handlers >= budget / 2);
    CHECK(plan.stop_handlers <= plan.abandon_handlers);
    CHECK(plan.abandon_handlers <= plan.end);
    CHECK(plan.end == budget);
  }
}

SCENARIO("a chunk is watched over with few looks", "[run_watch]") {
  std::vector<run_item> items(3);
  items[0].options.timeout = 30s;
  items[1].options.timeout = 10s;
  items[2].options.timeout = 30s;
  const run_watch watch{items};
  const monotonic_time start{1h};
  CHECK(watch.first_look(start) == start + 10s);

  THEN("a long message is looked at when one after it could be over") {
    const auto verdict = watch.look(start + 10s, start, 30s);
    CHECK_FALSE(verdict.over);
    CHECK(verdict.look_again == start + 20s);
  }
  THEN("and exactly at its own end") {
    CHECK(watch.look(start + 25s, start, 30s).look_again == start + 30s);
    CHECK(watch.look(start + 30s, start, 30s).over);
  }
  THEN("between messages there is nothing to stop") {
    CHECK_FALSE(watch.look(start + 1h, std::nullopt, 0s).over);
  }
  THEN("a timeout of centuries is no overflow") {
    items.resize(1);
    items[0].options.timeout = std::chrono::nanoseconds::max();
    const run_watch patient{items};
    CHECK(patient.first_look(start) > start);
    CHECK_FALSE(
      patient.look(start, start, std::chrono::nanoseconds::max()).over);
  }
}
