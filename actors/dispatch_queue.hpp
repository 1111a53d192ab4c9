#pragma once

#include "actors/run_item.hpp"

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

namespace sqlstreams {

/// How much may be claimed.
struct claim_room {
  std::size_t messages = 0; ///< >= 1
  std::size_t bytes = 0;    ///< of payload, >= 1

  bool operator==(const claim_room&) const = default;
};

/// Claimed messages on their way to the handlers, bounded in number and bytes:
/// those that wait, and those handed out of which only one a handler runs.
/// Reclaimed ranges go ahead of fresh ones: their messages have waited for a
/// lease already. Pure: the time is an argument.
class dispatch_queue {
public:
  struct bounds {
    std::size_t messages = 0; ///< queue_size, beside those that run
    std::size_t bytes = 0;    ///< queue_bytes
    std::size_t handlers = 1; ///< message_concurrency
  };

  explicit dispatch_queue(const bounds& given) noexcept : bounds_{given} {}

  /// Changes the bound of messages; what is above it stays.
  void set_capacity(std::size_t messages) noexcept {
    bounds_.messages = messages;
  }

  enum class place : std::uint8_t { ahead, behind };

  /// Queues the messages of a range, in id order.
  void add(std::vector<run_item> items, place where);

  /// What is handed to a handler at once.
  struct chunk {
    std::vector<run_item> items{};
    /// Ranges of which a message can no longer start within its lease: all
    /// their waiting messages have left the queue.
    std::vector<range_number> too_late{};
  };

  /// Takes messages for one handler: many of fast ones, so that handing over
  /// costs little; one of slow ones, so that none waits behind another while a
  /// handler is free.
  /// @param pace time for a message; empty: not known yet
  /// @param limit messages at most
  chunk take(monotonic_time now, std::optional<std::chrono::nanoseconds> pace,
             std::size_t limit);

  /// Handed-out messages come back unrun: they are next.
  void put_back(std::vector<run_item> items);

  /// Handed-out messages have ended, or are forgotten.
  void release(const run_item& item) noexcept;

  /// Removes the waiting messages of a range.
  /// @returns how many
  std::size_t drop(range_number range);

  /// Removes all waiting messages.
  void clear();

  /// Returns what may be claimed: a batch or, with less room than that, no less
  /// than half of one, so that a full queue does not claim by single messages.
  [[nodiscard]] std::optional<claim_room> room(std::size_t batch) const;

  /// Returns whether there is so little work left that an expired range of any
  /// size may be taken over.
  [[nodiscard]] bool nearly_idle() const noexcept;

  [[nodiscard]] std::size_t waiting() const noexcept {
    return ahead_.size() + behind_.size();
  }
  /// Messages and bytes that count against the bounds.
  [[nodiscard]] std::size_t held() const noexcept { return held_; }
  [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }

private:
  std::deque<run_item>& next() noexcept {
    return ahead_.empty() ? behind_ : ahead_;
  }

  bounds bounds_;
  std::deque<run_item> ahead_;
  std::deque<run_item> behind_;
  std::size_t held_ = 0;
  std::size_t held_bytes_ = 0;
};

} // namespace sqlstreams
