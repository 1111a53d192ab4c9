#pragma once

#include <atomic>
#include <cstddef>

namespace sqlstreams {

/// Counts the abandoned handlers of a session that still run, so that threads
/// are not replaced without bound. Thread-safe.
class abandoned_runs {
public:
  explicit abandoned_runs(std::size_t limit) noexcept : limit_{limit} {}

  /// Takes a place.
  /// @returns false if all are taken: the run keeps its handler slot then
  bool add() noexcept {
    auto count = count_.load();
    while (count < limit_)
      if (count_.compare_exchange_weak(count, count + 1))
        return true;
    return false;
  }

  /// An abandoned handler has ended after all.
  void remove() noexcept { --count_; }

  [[nodiscard]] std::size_t count() const noexcept { return count_; }

private:
  std::size_t limit_;
  std::atomic<std::size_t> count_{0};
};

} // namespace sqlstreams
