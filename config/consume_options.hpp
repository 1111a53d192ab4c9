#pragma once

#include "config/problem.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace sqlstreams {

/// How one instance of a group consumes; not stored. Zero means unset.
struct consume_options {
  int batch_limit = 0; ///< messages claimed at once; 0: automatic
  int batch_max = 0;   ///< largest automatic batch; 1000
  /// Claimed messages waiting in this instance; 0: twice the batch.
  int queue_size = 0;
  std::int64_t queue_bytes = 0;  ///< their payloads, in bytes; 64 MiB
  int message_concurrency = 0;   ///< handlers at once, fresh messages; 1
  int exception_concurrency = 0; ///< handlers at once, exceptions; 1
  /// Between polls when no wake-up hint comes; 500 ms.
  std::chrono::nanoseconds claim_poll_rate{};
  std::chrono::nanoseconds queue_margin{};  ///< waiting in the queue; 15 s
  std::chrono::nanoseconds record_margin{}; ///< recording outcomes; 2 s
  /// From a handler's timeout until it is abandoned; 100 ms.
  std::chrono::nanoseconds timeout_grace{};
  /// Waiting longer for a handler is reported; 0: never.
  std::chrono::nanoseconds slow_dispatch_threshold{};
  /// How long this instance counts as alive without a heartbeat; 30 s.
  std::chrono::nanoseconds instance_ttl{};
  std::chrono::nanoseconds binding_retry_interval{};  ///< 10 s
  std::chrono::nanoseconds config_refresh_interval{}; ///< 30 s
  /// For ending at shutdown; 0: see `shutdown_budget`.
  std::chrono::nanoseconds shutdown_timeout{};

  bool operator==(const consume_options&) const = default;

  /// Returns a copy with unset fields set to their defaults; those for which
  /// zero has a meaning of its own stay zero.
  [[nodiscard]] consume_options with_defaults() const;

  /// Returns what is wrong after defaults; empty if nothing.
  [[nodiscard]] std::vector<problem> validate() const;

  /// Returns how many claimed messages may wait when `batch` are claimed at
  /// once: `queue_size`, else twice the batch.
  [[nodiscard]] int queue_capacity(int batch) const noexcept;
};

} // namespace sqlstreams
