#pragma once

#include "config/problem.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

namespace sqlstreams {

/// What a retry policy is for; only `max_retries` differs.
enum class retry_job : std::uint8_t {
  database,   ///< `max_retries` counts all attempts, the first included
  redelivery, ///< `max_retries` counts retries after the first failed run
};

/// How often and how fast to try again. Zero means unset.
struct retry_policy {
  int max_retries = 0; ///< 6 for database calls, 3 for redelivery
  /// Later runs a handler may ask for before the message is dead; 0: no cap.
  int max_delays = 0;
  std::chrono::nanoseconds base_delay{}; ///< first delay of the curve; 1 s
  std::chrono::nanoseconds max_delay{};  ///< cap of every delay; 5 min
  int exponent = 0;                      ///< factor from delay to delay; 2

  bool operator==(const retry_policy&) const = default;

  /// Returns a copy with unset fields set to the job's defaults.
  [[nodiscard]] retry_policy with_defaults(retry_job job) const;

  /// Returns what is wrong after defaults; empty if nothing. A total sleep that
  /// does not fit 64 bits of nanoseconds is wrong.
  [[nodiscard]] std::vector<problem>
  validate(retry_job job = retry_job::redelivery) const;

  /// Returns `base_delay * exponent^attempt`, at most `max_delay`, for the
  /// zero-based attempt. Unset or impossible fields count as their defaults, so
  /// that the result is always in (0, max_delay]; never overflows and does not
  /// stop at `max_retries`.
  [[nodiscard]] std::chrono::nanoseconds
  calculate_delay(std::int64_t attempt) const;

  /// Returns the sum of the sleeps between `max_retries` attempts (one less
  /// than attempts); as large as fits if it would overflow.
  [[nodiscard]] std::chrono::nanoseconds calculate_total_delay() const;
};

} // namespace sqlstreams
