#include "apps/bench/measure/stream_side.hpp"

#include "apps/bench/measure/payload.hpp"

#include <algorithm>
#include <atomic>
#include <future>
#include <stdexcept>
#include <vector>

namespace sqlstreams::bench {

namespace {

using std::chrono::steady_clock;

constexpr int ready_batches = 8;

std::vector<std::vector<new_message>> ready_messages(int caller,
                                                     std::size_t batch) {
  std::vector<std::vector<new_message>> ready;
  for (int i = 0; i < ready_batches; ++i)
    ready.push_back(
      messages((caller * ready_batches + i) * std::int64_t(batch), batch));
  return ready;
}

std::int64_t produce_until(steady_clock::time_point end,
                           const raw_producer& producer,
                           const std::vector<std::vector<new_message>>& ready) {
  std::int64_t stored = 0;
  for (std::size_t i = 0; steady_clock::now() < end; ++i)
    stored += static_cast<std::int64_t>(
      producer.produce_batch(ready[i % ready.size()]).size());
  return stored;
}

} // namespace

rate produce_batches(const client& db, const std::string& stream, int callers,
                     std::size_t batch, std::chrono::seconds duration) {
  db.stream(stream).register_stream();
  const auto producer = db.stream(stream).register_producer();
  std::vector<std::vector<std::vector<new_message>>> ready;
  for (int i = 0; i < callers; ++i)
    ready.push_back(ready_messages(i, batch));
  const auto start = steady_clock::now();
  std::vector<std::future<std::int64_t>> running;
  for (const auto& own : ready)
    running.push_back(std::async(std::launch::async, [&] {
      return produce_until(start + duration, producer, own);
    }));
  rate measured;
  for (auto& one : running)
    measured.messages += one.get();
  measured.took = steady_clock::now() - start;
  return measured;
}

void preload(const client& db, const std::string& stream, std::size_t count) {
  db.stream(stream).register_stream();
  const auto producer = db.stream(stream).register_producer();
  constexpr std::size_t step = 1000;
  for (std::size_t done = 0; done < count; done += step)
    producer.produce_batch(
      messages(static_cast<std::int64_t>(done), std::min(step, count - done)));
}

rate consume_all(const client& db, const std::string& stream,
                 const std::string& group, std::size_t count, int handlers) {
  const auto consumer = db.stream(stream).consumer(group).register_group();
  consume_run run;
  run.options.message_concurrency = handlers;
  run.max_messages = count;
  std::atomic<std::size_t> handled = 0;
  const auto start = steady_clock::now();
  consumer.consume(
    [&](delivery&) {
      ++handled;
      return done();
    },
    run);
  rate measured;
  measured.took = steady_clock::now() - start;
  measured.messages = static_cast<std::int64_t>(handled);
  const auto lag = db.stream(stream).consumer(group).lag();
  if (lag.committed < lag.head || handled < count)
    throw std::runtime_error("the group did not handle the whole stream");
  return measured;
}

} // namespace sqlstreams::bench
