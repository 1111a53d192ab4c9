#pragma once

#include "config/problem.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// Which deliveries leave a line of history.
enum class delivery_log_mode : std::uint8_t {
  failures, ///< all but successes
  all,
  off,
};

/// Returns "failures", "all" or "off".
std::string_view to_string(delivery_log_mode value) noexcept;

/// Reads what `to_string` writes; empty for anything else.
std::optional<delivery_log_mode>
parse_delivery_log_mode(std::string_view text) noexcept;

/// The sweeper of expired messages. Zero means unset.
struct janitor_config {
  std::chrono::nanoseconds poll_rate{};           ///< 5 s
  int sweep_batch = 0;                            ///< rows at once; 1000
  std::chrono::nanoseconds cleanup_timeout{};     ///< of one pass; 5 s
  std::chrono::nanoseconds partial_sweep_grace{}; ///< 0: none

  bool operator==(const janitor_config&) const = default;
};

/// The worker that vacuums the stream's small tables. Zero means unset.
struct vacuum_config {
  std::chrono::nanoseconds poll_rate{}; ///< 2 min
  std::chrono::nanoseconds timeout{};   ///< of one pass; 1 min
  bool suspended = true;                ///< until somebody wants it

  bool operator==(const vacuum_config&) const = default;
};

struct compaction_config {
  bool enabled = false; ///< keep the newest message of each key only

  bool operator==(const compaction_config&) const = default;
};

/// Settings of a stream, stored as declared. Zero means unset.
struct stream_config {
  /// Ids per partition, at least 2; 1,000,000. Cannot change.
  std::int64_t partition_size = 0;
  std::chrono::nanoseconds retention{}; ///< 0: for ever
  /// Whether retention may drop what a group has not committed yet.
  bool allow_drop_past_committed = false;
  std::chrono::nanoseconds idempotency_key_ttl{};       ///< 24 h
  std::chrono::nanoseconds empty_compaction_head_ttl{}; ///< 1 h
  delivery_log_mode delivery_log = delivery_log_mode::failures;
  std::int64_t max_payload_bytes = 0; ///< inclusive; 16 MiB
  janitor_config janitor{};
  vacuum_config vacuum{};
  compaction_config compaction{};

  bool operator==(const stream_config&) const = default;

  /// Returns a copy with unset fields set to their defaults.
  [[nodiscard]] stream_config with_defaults() const;

  /// Returns what is wrong after defaults; empty if nothing.
  [[nodiscard]] std::vector<problem> validate() const;
};

} // namespace sqlstreams
