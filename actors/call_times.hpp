#pragma once
// When the storage pool gives a call up: the one place, for those who ask and
// for the pool.

#include "actors/messages.hpp"
#include "actors/milliseconds.hpp"
#include "actors/retry_schedule.hpp"

#include <chrono>

namespace sqlstreams {

/// How long a recorder waits for a settle. Well below a lease, so that one that
/// got lost is made again in time: to make it twice does no harm.
inline constexpr std::chrono::nanoseconds settle_patience =
  std::chrono::seconds{15};

/// How long an attempt at an ordinary call may take.
inline constexpr std::chrono::nanoseconds usual_attempt =
  std::chrono::seconds{10};

/// What an attempt may take beyond that: connecting, and asking the server what
/// became of a commit that it did not confirm.
inline constexpr std::chrono::nanoseconds attempt_reserve =
  std::chrono::seconds{20};

/// The times of a call.
struct call_times {
  /// From the request on. Its asker has gone by then, or has no use for the
  /// answer: no attempt begins later.
  std::chrono::nanoseconds begin_within{};
  /// An attempt that takes longer is interrupted.
  std::chrono::nanoseconds attempt = usual_attempt + attempt_reserve;
};

/// Returns the times of an ordinary call.
/// @param database the pool's policy
template <class Request>
call_times times_of(const Request&, const retry_policy& database) {
  return {storage_deadline(database, usual_attempt)};
}

/// A lease counts for its asker from before it asked. The second half is for
/// the call itself, and so that something can be done under the lease: one that
/// began later would lease messages to nobody, and charge attempts for it.
inline call_times times_of(const claim_request& what, const retry_policy&) {
  return {what.lease / 2};
}
inline call_times times_of(const reclaim_request& what, const retry_policy&) {
  return {what.lease / 2};
}
inline call_times times_of(const exception_claim_request& what,
                           const retry_policy&) {
  return {what.lease / 2};
}

inline call_times times_of(const settle_request&, const retry_policy&) {
  return {settle_patience};
}

/// Bounded, so that the reserve can be added.
inline call_times times_of(const produce_request& what,
                           const retry_policy& database) {
  const auto attempt =
    what.attempt_timeout.count() > 0 ? what.attempt_timeout : usual_attempt;
  return {storage_deadline(database, attempt),
          milliseconds_for(attempt) + attempt_reserve};
}

} // namespace sqlstreams
