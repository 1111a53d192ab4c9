#pragma once
// What passes between a consumer session and those who run handlers.

#include "actors/outcome.hpp"
#include "config/resolve.hpp"
#include "storage/message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace sqlstreams {

/// A point on the monotonic clock that actors use; virtual in simulations.
using monotonic_time = std::chrono::steady_clock::time_point;

/// Names a claimed range within its session; never used twice.
using range_number = std::uint64_t;

/// A message that is ready to run.
struct run_item {
  range_number range = 0; ///< 0: a claimed exception
  std::size_t index = 0;  ///< of the message in its range
  std::shared_ptr<const sqlstreams::message> message;
  std::int64_t attempt = 0; ///< zero-based
  std::int64_t delays = 0;
  resolved_options options{};
  monotonic_time queued_at{}; ///< by the session
  /// After this the rest of the lease does not cover the run any more.
  monotonic_time start_by = monotonic_time::max();
};

/// What became of a run_item.
struct run_result {
  bool ran = false; ///< false: was not started, may start elsewhere
  /// Did not end though it was asked to; `result` is ours then.
  bool abandoned = false;
  outcome result{}; ///< says nothing if it did not run
};

} // namespace sqlstreams
