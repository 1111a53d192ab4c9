#pragma once

#include "actors/run_item.hpp"

#include <chrono>
#include <optional>
#include <vector>

namespace sqlstreams {

/// Watches over the time of a chunk's messages with few looks at the clock: one
/// for each chunk, or for each message that takes its time. Pure.
class run_watch {
public:
  run_watch() = default;
  explicit run_watch(const std::vector<run_item>& items) noexcept;

  struct verdict {
    bool over = false;           ///< the running message's time is over
    monotonic_time look_again{}; ///< if not
  };

  /// Looks at the chunk.
  /// @param timeout of the running message, and `since` when it runs; empty if
  ///   none runs just now
  [[nodiscard]] verdict look(monotonic_time now,
                             std::optional<monotonic_time> since,
                             std::chrono::nanoseconds timeout) const noexcept;

  /// Returns when to look first at a chunk that starts now.
  [[nodiscard]] monotonic_time first_look(monotonic_time now) const noexcept {
    return now + shortest_;
  }

private:
  std::chrono::nanoseconds shortest_ = std::chrono::hours{1};
};

} // namespace sqlstreams
