#pragma once

#include <cstddef>
#include <limits>

namespace sqlstreams {

/// Sees to it that a session with `max_messages` claims no more than it may
/// still handle. Pure.
class run_allowance {
public:
  /// @param limit 0: none
  explicit run_allowance(std::size_t limit = 0) noexcept
    : limit_{limit == 0 ? unlimited : limit} {}

  /// Returns how many more messages may be claimed.
  /// @param open claimed, or being claimed, and not recorded yet
  [[nodiscard]] std::size_t left(std::size_t open) const noexcept {
    if (limit_ == unlimited)
      return unlimited;
    const auto used = recorded_ + open;
    return limit_ > used ? limit_ - used : 0;
  }

  /// Outcomes were recorded.
  void record(std::size_t messages) noexcept { recorded_ += messages; }

  [[nodiscard]] bool used_up() const noexcept {
    return limit_ != unlimited && recorded_ >= limit_;
  }

  static constexpr auto unlimited = std::numeric_limits<std::size_t>::max();

private:
  std::size_t limit_;
  std::size_t recorded_ = 0;
};

} // namespace sqlstreams
