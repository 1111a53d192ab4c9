#pragma once
// What a consumer session has to write down.

#include "actors/run_item.hpp"
#include "storage/settlement.hpp"

#include <cstdint>

namespace sqlstreams {

/// A settlement on its way to the store.
struct pending_range {
  range_number number = 0;
  range_settlement settlement{};
  monotonic_time lease_end{};
  /// It was sent before and nobody knows whether it took effect.
  bool maybe_done = false;
};

/// The outcome of a claimed exception on its way to the store.
struct pending_exception {
  std::uint64_t number = 0; ///< unique in the session
  exception_settlement settlement{};
  monotonic_time lease_end{};
  bool maybe_done = false; ///< as above
};

/// What a claim is for.
enum class claim_source : std::uint8_t { fresh, expired, exceptions };

} // namespace sqlstreams
