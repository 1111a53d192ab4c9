#pragma once

#include <chrono>

namespace sqlstreams {

/// Returns a duration as CAF's requests take it: whole milliseconds, rounded
/// up, and short enough that a clock can be added.
constexpr std::chrono::milliseconds
milliseconds_for(std::chrono::nanoseconds value) noexcept {
  constexpr std::chrono::hours longest{24 * 365 * 10};
  return std::chrono::ceil<std::chrono::milliseconds>(
    value < longest ? value : std::chrono::nanoseconds{longest});
}

} // namespace sqlstreams
