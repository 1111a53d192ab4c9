#pragma once

#include "config/consume_options.hpp"
#include "config/cursor_position.hpp"
#include "config/message_options.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace sqlstreams {

/// Settings of a group, shared by all its instances and stored as declared.
/// Zero, empty or absent means unset.
struct consumer_config {
  message_options message{};     ///< where a message says nothing
  message_options message_min{}; ///< lower bounds; no concurrency
  /// Upper bounds; unset ones are those of `message`; no concurrency.
  message_options message_max{};
  std::optional<concurrency> concurrency_override{};
  cursor_position start{};             ///< only if the group has no cursor yet
  std::vector<std::string> bindings{}; ///< routing key patterns; empty: all
  /// After the first failure of a message; 5 s.
  std::chrono::nanoseconds exception_initial_backoff{};
  /// Reclaims of a range before its messages become exceptions; 3.
  int max_range_reclaims = 0;
  bool paused = false; ///< claims nothing while set

  bool operator==(const consumer_config&) const = default;

  /// Returns a copy with unset fields set to their defaults.
  [[nodiscard]] consumer_config with_defaults() const;

  /// Returns what is wrong after defaults: each field by itself, and
  /// minimum <= default <= maximum. Empty if nothing.
  [[nodiscard]] std::vector<problem> validate() const;
};

/// Returns the defaults of `consumer_config::message`: 30 s and the redelivery
/// policy.
message_options default_message_options();

/// Returns how long a claimed range or exception is leased:
/// `message_max.timeout + timeout_grace + queue_margin + record_margin`, unset
/// fields at their defaults; as long as fits if it would overflow.
std::chrono::nanoseconds range_lease(const consumer_config& group,
                                     const consume_options& options);

/// Returns how much of a lease must be left for a message with this timeout to
/// start: timeout + grace + record margin.
std::chrono::nanoseconds needed_to_start(std::chrono::nanoseconds timeout,
                                         const consume_options& options);

/// Returns `shutdown_timeout`, else
/// `message_max.timeout + timeout_grace + record_margin`.
std::chrono::nanoseconds shutdown_budget(const consumer_config& group,
                                         const consume_options& options);

} // namespace sqlstreams
