#include "actors/dispatch_queue.hpp"

#include <algorithm>
#include <iterator>

namespace sqlstreams {

namespace {

/// Handing a chunk over costs some ten microseconds: nothing beside this, which
/// in turn is nothing to wait for.
constexpr std::chrono::nanoseconds chunk_time = std::chrono::milliseconds{20};

constexpr std::size_t largest_chunk = 256;

std::size_t bytes_of(const run_item& item) noexcept {
  return item.message->payload.size();
}

std::size_t chunk_size(std::size_t waiting, std::size_t handlers,
                       std::optional<std::chrono::nanoseconds> pace) {
  if (!pace)
    return 1;
  const auto fitting = static_cast<std::size_t>(
    chunk_time.count() / std::max<std::int64_t>(pace->count(), 1));
  const auto share = (waiting + handlers - 1) / handlers;
  return std::clamp<std::size_t>(std::min(fitting, share), 1, largest_chunk);
}

} // namespace

void dispatch_queue::add(std::vector<run_item> items, place where) {
  auto& queue = where == place::ahead ? ahead_ : behind_;
  held_ += items.size();
  for (const auto& item : items)
    held_bytes_ += bytes_of(item);
  queue.insert(queue.end(), std::make_move_iterator(items.begin()),
               std::make_move_iterator(items.end()));
}

dispatch_queue::chunk
dispatch_queue::take(monotonic_time now,
                     std::optional<std::chrono::nanoseconds> pace,
                     std::size_t limit) {
  chunk taken;
  const auto size =
    std::min(limit, chunk_size(waiting(), bounds_.handlers, pace));
  while (taken.items.size() < size && waiting() > 0) {
    auto& queue = next();
    if (now > queue.front().start_by) {
      const auto range = queue.front().range;
      taken.too_late.push_back(range);
      drop(range);
      continue;
    }
    taken.items.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  return taken;
}

void dispatch_queue::put_back(std::vector<run_item> items) {
  ahead_.insert(ahead_.begin(), std::make_move_iterator(items.begin()),
                std::make_move_iterator(items.end()));
}

void dispatch_queue::release(const run_item& item) noexcept {
  --held_;
  held_bytes_ -= bytes_of(item);
}

std::size_t dispatch_queue::drop(range_number range) {
  std::size_t dropped = 0;
  const auto leaves = [&](const run_item& item) {
    if (item.range != range)
      return false;
    release(item);
    ++dropped;
    return true;
  };
  std::erase_if(ahead_, leaves);
  std::erase_if(behind_, leaves);
  return dropped;
}

void dispatch_queue::clear() {
  for (auto* queue : {&ahead_, &behind_}) {
    for (const auto& item : *queue)
      release(item);
    queue->clear();
  }
}

std::optional<claim_room> dispatch_queue::room(std::size_t batch) const {
  // What runs does not wait.
  const auto capacity = bounds_.messages + bounds_.handlers;
  const auto free = capacity > held_ ? capacity - held_ : 0;
  const auto messages = std::min(batch, free);
  const auto bytes =
    bounds_.bytes > held_bytes_ ? bounds_.bytes - held_bytes_ : 0;
  if (messages < (batch + 1) / 2 || messages == 0
      || bytes < std::max<std::size_t>(bounds_.bytes / 4, 1))
    return std::nullopt;
  return claim_room{messages, bytes};
}

bool dispatch_queue::nearly_idle() const noexcept {
  return held_ <= bounds_.handlers + bounds_.messages / 2
         && held_bytes_ <= bounds_.bytes / 2;
}

} // namespace sqlstreams
