#include "apps/sqlstreams/tail.hpp"

#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/message_printer.hpp"
#include "apps/sqlstreams/standard_output.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>

namespace sqlstreams {

namespace {

bool anything_after(const raw_stream& stream, message_id id) {
  read_position from;
  from.after = id;
  return !stream.read(from, 1).messages.empty();
}

/// The highest id that can be read now, found in twice as many small reads as
/// it has binary digits. As with a group that starts at the head, an open
/// transaction with a lower id is not seen later.
message_id find_head(const raw_stream& stream) {
  static constexpr auto highest = std::numeric_limits<message_id>::max();
  message_id low = 0; // something lies after it, or it is the head
  message_id high = 0;
  while (high < highest && anything_after(stream, high)) {
    low = high;
    high = high > highest / 2 ? highest : std::max<message_id>(1, high * 2);
  }
  // Invariant: something after `low` (or the stream is empty), nothing after
  // `high`.
  while (high - low > 1) {
    const auto middle = low + (high - low) / 2;
    (anything_after(stream, middle) ? low : high) = middle;
  }
  return high;
}

void pause(const std::stop_token& stop) {
  static constexpr std::chrono::milliseconds poll{250};
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop, poll, [] { return false; });
}

} // namespace

bool tail(const client& db, const tail_options& what, const context& ctx,
          std::stop_token stop) {
  static constexpr std::size_t page = 100;
  require_stream(db, what.stream);
  const auto stream = db.stream(what.stream);
  read_position position;
  position.after = what.after ? *what.after : find_head(stream);
  std::size_t printed = 0;
  const auto wanted = [&] {
    return what.max == 0 ? page : std::min(page, what.max - printed);
  };
  while (!stop.stop_requested() && wanted() > 0) {
    auto result = stream.read(position, wanted());
    position = std::move(result.position);
    for (const auto& message : result.messages)
      if (!write_out(message_text(message, what.stream, nullptr, ctx.output)))
        return false;
    printed += result.messages.size();
    if (result.messages.empty())
      pause(stop);
  }
  return true;
}

} // namespace sqlstreams
