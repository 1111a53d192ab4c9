#include "config/attempts.hpp"

#include <algorithm>
#include <limits>

namespace sqlstreams {

using std::chrono::nanoseconds;

namespace {

std::int64_t next(std::int64_t count) noexcept {
  return count == std::numeric_limits<std::int64_t>::max() ? count : count + 1;
}

/// Failures before the run `now` stands for.
std::int64_t failures(attempt_counters now) noexcept {
  std::int64_t count = 0;
  if (__builtin_sub_overflow(now.attempts, now.delays, &count))
    return std::numeric_limits<std::int64_t>::max();
  return std::max<std::int64_t>(count, 0);
}

bool budget_spent(attempt_counters now, int max_retries) noexcept {
  return failures(now) >= max_retries;
}

/// Starts from: the row stays as it is, and `history` is noted for this run.
exception_change unchanged(attempt_counters now, exception_status status,
                           history_kind history) {
  exception_change change;
  change.status = status;
  change.attempts = now.attempts;
  change.delays = now.delays;
  change.history = history;
  change.history_attempt = now.attempts;
  return change;
}

exception_change gone(attempt_counters now, history_kind history) {
  auto change = unchanged(now, exception_status::ready, history);
  change.keeps_row = false;
  return change;
}

exception_change dead(attempt_counters now) {
  return unchanged(now, exception_status::dead, history_kind::failure);
}

/// Base first: the second failure is attempt zero of the curve. Delays and
/// deferrals are no failures and so do not move it.
nanoseconds wait_after_failure(attempt_counters now,
                               const attempt_policy& policy) {
  const auto before = failures(now);
  return before == 0 ? policy.initial_backoff
                     : policy.retry.calculate_delay(before - 1);
}

exception_change failed(attempt_counters now, const attempt_policy& policy) {
  if (budget_spent(now, policy.retry.max_retries))
    return dead(now);
  auto change = unchanged(now, exception_status::ready, history_kind::failure);
  change.attempts = next(now.attempts);
  change.run_after = wait_after_failure(now, policy);
  return change;
}

exception_change delayed(attempt_counters now, const attempt_policy& policy,
                         nanoseconds requested) {
  const auto cap = policy.retry.max_delays;
  if (cap > 0 && now.delays >= cap)
    return dead(now);
  auto change = unchanged(now, exception_status::ready, history_kind::delayed);
  change.attempts = next(now.attempts);
  change.delays = next(now.delays);
  // A century is for ever, and keeps the database's timestamps in range.
  change.run_after = std::clamp<nanoseconds>(requested, nanoseconds{0},
                                             std::chrono::hours{24 * 36'525});
  return change;
}

} // namespace

exception_change first_run(outcome_kind outcome, const attempt_policy& policy,
                           nanoseconds requested_delay) {
  // A fresh message is a row at attempt 0 that has not been written yet.
  return later_run({}, outcome, policy, requested_delay);
}

exception_change later_run(attempt_counters now, outcome_kind outcome,
                           const attempt_policy& policy,
                           nanoseconds requested_delay) {
  switch (outcome) {
  case outcome_kind::done: return gone(now, history_kind::success);
  case outcome_kind::superseded: return gone(now, history_kind::superseded);
  case outcome_kind::dead: return dead(now);
  case outcome_kind::delay: return delayed(now, policy, requested_delay);
  case outcome_kind::deferred:
    return unchanged(now, exception_status::deferred, history_kind::deferred);
  case outcome_kind::retry: break;
  }
  return failed(now, policy);
}

exception_change expired_claim(attempt_counters now,
                               const attempt_policy& policy) {
  if (budget_spent(now, policy.retry.max_retries))
    return unchanged(now, exception_status::dead, history_kind::killed);
  auto change =
    unchanged(now, exception_status::inflight, history_kind::expired);
  change.attempts = next(now.attempts);
  return change;
}

bool over_budget(attempt_counters now, int max_retries) noexcept {
  return failures(now) > max_retries;
}

} // namespace sqlstreams
