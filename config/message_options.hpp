#pragma once

#include "config/concurrency.hpp"
#include "config/retry_policy.hpp"

#include <chrono>
#include <optional>

namespace sqlstreams {

/// What a message asks of whoever consumes it; also a group's defaults and
/// bounds. Zero or absent means unset.
struct message_options {
  std::optional<sqlstreams::concurrency> concurrency{}; ///< unset: parallel
  std::chrono::nanoseconds timeout{};                   ///< of one handler run
  std::optional<retry_policy> retry{};
  /// The time a schedule's message stands for: a fact, never defaulted or
  /// clamped.
  std::optional<std::chrono::system_clock::time_point> scheduled_at{};

  /// Compares what is stored, without filling in defaults.
  bool operator==(const message_options&) const = default;
};

/// Returns `options` with unset fields taken from `defaults`, those of the
/// nested retry policy one by one. `scheduled_at` stays as it is.
message_options fill(const message_options& options,
                     const message_options& defaults);

/// As above, where either may be nothing; nothing filled from nothing is
/// nothing.
std::optional<message_options>
fill(const std::optional<message_options>& options,
     const std::optional<message_options>& defaults);

/// Raises numbers to `minimum` and lowers them to `maximum` where these are
/// positive. In `max_delays` zero means "no cap" and so is above any maximum.
/// Concurrency and `scheduled_at` stay as they are.
message_options clamp(const message_options& options,
                      const message_options& minimum,
                      const message_options& maximum);

/// As above, where each may be nothing; clamping nothing gives nothing.
std::optional<message_options>
clamp(const std::optional<message_options>& options,
      const std::optional<message_options>& minimum,
      const std::optional<message_options>& maximum);

/// Returns `options` (nothing: a fresh value) with the concurrency set: the
/// override, else what it asks for, else parallel.
message_options
resolve_concurrency(const std::optional<message_options>& options,
                    std::optional<concurrency> override_with);

/// Returns what is wrong with the options of a message to be produced: negative
/// numbers and nothing else, since unset is right everywhere.
std::vector<problem> validate_sparse(const message_options& options);

} // namespace sqlstreams
