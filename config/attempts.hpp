#pragma once
// The arithmetic of attempts, delays and budgets. Pure and saturating: no count
// of attempts or delays can overflow or produce a delay outside (0, cap].

#include "config/outcome_kind.hpp"
#include "config/retry_policy.hpp"

#include <chrono>
#include <cstdint>

namespace sqlstreams {

/// What decides about a message's further runs, all resolved.
struct attempt_policy {
  /// `max_retries` R allows R retries after the first failed run; 0 allows
  /// none. `max_delays` 0 means no cap.
  retry_policy retry{};
  /// The wait after the first failure.
  std::chrono::nanoseconds initial_backoff = std::chrono::seconds{5};
};

/// Where a message stands.
struct attempt_counters {
  std::int64_t attempts = 0; ///< number of the current or next run, zero-based
  std::int64_t delays = 0;   ///< later runs that a handler asked for

  bool operator==(const attempt_counters&) const = default;
};

/// What is to be written about a run that ended.
struct exception_change {
  /// Whether the message stays (or comes) in the exception queue; if not, the
  /// fields up to `run_after` say nothing. False for success and superseded.
  bool keeps_row = true;
  exception_status status = exception_status::ready;
  std::int64_t attempts = 0;            ///< new value
  std::int64_t delays = 0;              ///< new value
  std::chrono::nanoseconds run_after{}; ///< from now; not negative
  history_kind history = history_kind::failure;
  std::int64_t history_attempt = 0; ///< the attempt that ended

  bool operator==(const exception_change&) const = default;
};

/// The run of a fresh message ended.
/// @param requested_delay for outcome `delay`; a negative one counts as zero
exception_change first_run(outcome_kind outcome, const attempt_policy& policy,
                           std::chrono::nanoseconds requested_delay = {});

/// The run of a claimed exception ended.
/// @param now its counters as claimed
exception_change later_run(attempt_counters now, outcome_kind outcome,
                           const attempt_policy& policy,
                           std::chrono::nanoseconds requested_delay = {});

/// The lease of an exception in flight ran out: it is claimed again (status
/// inflight, one attempt more, history `expired`) or, with its budget used up,
/// dead (history `killed`).
exception_change expired_claim(attempt_counters now,
                               const attempt_policy& policy);

/// Returns whether a row that is not in flight has failed more often than its
/// (perhaps lowered) budget allows, so that it must not run again.
bool over_budget(attempt_counters now, int max_retries) noexcept;

} // namespace sqlstreams
