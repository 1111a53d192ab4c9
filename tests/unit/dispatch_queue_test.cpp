#include "actors/dispatch_queue.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace std::chrono_literals;
using place = dispatch_queue::place;

namespace {

constexpr monotonic_time start{};
constexpr std::chrono::nanoseconds fast{100};
constexpr std::chrono::nanoseconds slow = 1s;
constexpr std::size_t any = 1'000'000;

run_item item(range_number range, std::size_t index,
              monotonic_time start_by = start + 30s, std::size_t bytes = 10) {
  auto subject = std::make_shared<message>();
  subject->id = static_cast<message_id>(range * 1000 + index);
  subject->payload.assign(bytes, 'x');
  run_item result;
  result.range = range;
  result.index = index;
  result.message = std::move(subject);
  result.start_by = start_by;
  return result;
}

std::vector<run_item> items(range_number range, std::size_t count,
                            monotonic_time start_by = start + 30s) {
  std::vector<run_item> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(item(range, i, start_by));
  return result;
}

std::vector<message_id> ids(const std::vector<run_item>& of) {
  std::vector<message_id> result;
  for (const auto& each : of)
    result.push_back(each.message->id);
  return result;
}

} // namespace

SCENARIO("fast handlers get many messages at once, slow ones one each",
         "[dispatch_queue]") {
  dispatch_queue queue{{1000, 1 << 20, 4}};
  queue.add(items(1, 1000), place::behind);
  CHECK(queue.take(start, std::nullopt, any).items.size() == 1);
  CHECK(queue.take(start, slow, any).items.size() == 1);
  CHECK(queue.take(start, 2ms, any).items.size() == 10);
  CHECK(queue.take(start, fast, any).items.size() == 247);

  WHEN("little is left") {
    queue.clear();
    queue.add(items(2, 10), place::behind);
    THEN("the other handlers get their share") {
      CHECK(queue.take(start, fast, any).items.size() == 3);
    }
    THEN("no more is taken than may start") {
      CHECK(queue.take(start, fast, 2).items.size() == 2);
      CHECK(queue.take(start, fast, 0).items.empty());
    }
  }
}

SCENARIO("what was reclaimed or put back goes first", "[dispatch_queue]") {
  dispatch_queue queue{{100, 1 << 20, 1}};
  queue.add(items(1, 2), place::behind);
  queue.add(items(2, 2), place::ahead);
  auto first = queue.take(start, fast, 1);
  CHECK(ids(first.items) == std::vector<message_id>{2000});
  queue.put_back(std::move(first.items));
  CHECK(ids(queue.take(start, fast, any).items)
        == std::vector<message_id>{2000, 2001, 1000, 1001});
}

SCENARIO("a message that its lease no longer covers is not started",
         "[dispatch_queue]") {
  dispatch_queue queue{{100, 1 << 20, 1}};
  queue.add(items(1, 3, start + 10s), place::behind);
  queue.add(items(2, 2, start + 20s), place::behind);

  WHEN("just enough of the lease is left") {
    THEN("it starts") {
      CHECK(queue.take(start + 10s, fast, 1).items.size() == 1);
    }
  }
  WHEN("too little is left") {
    const auto chunk = queue.take(start + 10s + 1ns, fast, any);
    THEN("its range is named once and leaves; the next one runs") {
      CHECK(chunk.too_late == std::vector<range_number>{1});
      CHECK(ids(chunk.items) == std::vector<message_id>{2000, 2001});
      CHECK(queue.waiting() == 0);
    }
  }
}

SCENARIO("no more is claimed than the queue may hold", "[dispatch_queue]") {
  dispatch_queue queue{{200, 1000, 1}};
  CHECK(queue.room(100) == claim_room{100, 1000});

  WHEN("a batch is in the queue") {
    std::vector<run_item> batch;
    for (std::size_t i = 0; i < 100; ++i)
      batch.push_back(item(1, i, start + 30s, 5));
    queue.add(std::move(batch), place::behind);
    THEN("another one fits") { CHECK(queue.room(100) == claim_room{100, 500}); }
    THEN("a few free places are not claimed one by one") {
      queue.set_capacity(140);
      CHECK_FALSE(queue.room(100));
      queue.set_capacity(150);
      CHECK(queue.room(100)->messages == 51);
    }
    THEN("what was handed out counts until it has ended") {
      auto chunk = queue.take(start, fast, any);
      CHECK(chunk.items.size() == 100);
      CHECK(queue.held() == 100);
      CHECK(queue.nearly_idle());
      for (const auto& each : chunk.items)
        queue.release(each);
      CHECK(queue.held() == 0);
      CHECK(queue.held_bytes() == 0);
    }
    THEN("dropping a range makes room again") {
      CHECK(queue.drop(1) == 100);
      CHECK(queue.held() == 0);
    }
  }
  WHEN("one message fills the bytes") {
    queue.add({item(1, 0, start + 30s, 5000)}, place::behind);
    THEN("nothing is claimed until it has gone") {
      CHECK_FALSE(queue.room(100));
      CHECK_FALSE(queue.nearly_idle());
      queue.clear();
      CHECK(queue.room(100));
    }
  }
  WHEN("a batch is one message") {
    dispatch_queue narrow{{2, 1000, 1}};
    narrow.add(items(1, 2), place::behind);
    CHECK(narrow.room(1));
    narrow.add(items(2, 1), place::behind);
    CHECK_FALSE(narrow.room(1));
  }
}
