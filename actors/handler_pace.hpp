#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace sqlstreams {

/// How long a handler takes for a message: a mean in which recent runs weigh
/// more. Pure.
class handler_pace {
public:
  /// Takes the time of some messages that ran one after the other.
  void observe(std::size_t messages, std::chrono::nanoseconds busy) noexcept;

  /// Returns the mean, at least a nanosecond; empty before the first run.
  [[nodiscard]] std::optional<std::chrono::nanoseconds>
  per_message() const noexcept;

private:
  double mean_ns_ = 0; ///< 0: nothing seen yet
};

} // namespace sqlstreams
