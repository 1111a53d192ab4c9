#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

namespace sqlstreams {

/// Decides which of a stream of similar log lines are written: one per key and
/// interval. Pure: the time is an argument.
class log_suppression {
public:
  using time_point = std::chrono::steady_clock::time_point;

  explicit log_suppression(std::chrono::nanoseconds interval) noexcept
    : interval_{interval} {}

  /// Offers a line.
  /// @returns how many lines of this key were left out before it if it is to be
  ///   written; empty if it is to be left out
  std::optional<std::size_t> offer(const std::string& key, time_point now);

private:
  struct entry {
    time_point written;
    std::size_t left_out = 0;
  };

  void forget_old(time_point now);

  std::chrono::nanoseconds interval_;
  std::map<std::string, entry> entries_;
};

} // namespace sqlstreams
