#pragma once

#include "config/message_options.hpp"

#include <chrono>
#include <vector>

namespace sqlstreams {

/// How produce calls gather into transactions. Zero means unset.
struct batch_config {
  int max_size = 0;          ///< messages; 100. Explicit batches stay whole
  int concurrency_limit = 0; ///< transactions at once; 4
  std::chrono::nanoseconds attempt_timeout{}; ///< of one attempt; 10 s
  /// For what is on its way at shutdown, more than `attempt_timeout`; 15 s.
  /// Negative: do not wait.
  std::chrono::nanoseconds shutdown_grace{};

  bool operator==(const batch_config&) const = default;
};

/// Settings of one producer; not stored. Zero means unset.
struct producer_config {
  message_options message{}; ///< for what a message leaves unset; sparse
  batch_config batch{};
  /// A slower call is reported; 0: never.
  std::chrono::nanoseconds slow_produce_threshold{};
  int max_waiting = 0; ///< waiting requests before `overloaded`; 10,000

  bool operator==(const producer_config&) const = default;

  /// Returns a copy with unset fields set to their defaults. `message` stays
  /// sparse: the rest is the group's to decide.
  [[nodiscard]] producer_config with_defaults() const;

  /// Returns what is wrong after defaults; empty if nothing.
  /// @param database the policy for database calls: its sleeps and one
  ///   `attempt_timeout` per attempt must fit 64 bits of nanoseconds
  [[nodiscard]] std::vector<problem>
  validate(const retry_policy& database = {}) const;
};

} // namespace sqlstreams
