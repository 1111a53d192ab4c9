#pragma once

#include <cstdint>

namespace sqlstreams {

/// Counts since a consumer session began (design page 08, 0042 to 0051).
/// Outcomes (success to dead) count when they are recorded.
struct session_totals {
  std::uint64_t claimed = 0;
  std::uint64_t success = 0;
  std::uint64_t ready = 0;
  std::uint64_t delayed = 0;
  std::uint64_t deferred = 0;
  std::uint64_t dead = 0;
  std::uint64_t reclaimed = 0;
  std::uint64_t quarantined = 0;
  std::uint64_t abandoned = 0;
  std::uint64_t lease_lost = 0;
  std::uint64_t surrendered = 0;
};

} // namespace sqlstreams
