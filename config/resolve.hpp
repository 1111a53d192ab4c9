#pragma once

#include "config/consumer_config.hpp"

#include <chrono>
#include <optional>

namespace sqlstreams {

/// What applies to one delivery: nothing is unset any more, except that
/// `retry.max_delays` 0 means "no cap".
struct resolved_options {
  concurrency policy = concurrency::parallel;
  std::chrono::nanoseconds timeout{};
  retry_policy retry{};
  std::optional<std::chrono::system_clock::time_point> scheduled_at{};
  bool clamped = false; ///< the group's bounds changed what was asked for

  bool operator==(const resolved_options&) const = default;
};

/// Resolves field by field: the message's own, else the group's `message`, else
/// the default; then the group's bounds. Concurrency: the group's override, the
/// message's, the group's, parallel. Allocates nothing; validates nothing.
resolved_options resolve(const message_options& own,
                         const consumer_config& group);

/// Returns what is stored with a produced message: its own options and, where
/// unset, the producer's; still sparse.
message_options
merge_producer_defaults(const message_options& own,
                        const message_options& producer_defaults);

} // namespace sqlstreams
