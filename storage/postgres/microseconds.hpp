#pragma once

#include <chrono>
#include <cstdint>

namespace sqlstreams {

/// Returns the duration as PostgreSQL keeps it, rounded up: what is positive
/// stays so.
constexpr std::int64_t microseconds(std::chrono::nanoseconds value) noexcept {
  return std::chrono::ceil<std::chrono::microseconds>(value).count();
}

} // namespace sqlstreams
