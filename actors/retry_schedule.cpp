#include "actors/retry_schedule.hpp"

#include <limits>

namespace sqlstreams {

namespace {

bool may_repeat(recovery failure, repeatability call) {
  switch (failure) {
  case recovery::transient: return call != repeatability::never;
  case recovery::unknown: return call == repeatability::always;
  case recovery::permanent: break;
  }
  return false;
}

} // namespace

retry_schedule::retry_schedule(const retry_policy& policy, std::uint32_t seed)
  : policy_{policy.with_defaults(retry_job::database)}, random_{seed} {}

std::optional<std::chrono::nanoseconds>
retry_schedule::next(int attempts, recovery failure, repeatability call) {
  if (attempts >= policy_.max_retries || !may_repeat(failure, call))
    return std::nullopt;
  const auto full = policy_.calculate_delay(attempts - 1);
  // Only shortened: the policy's cap holds, and the sum of all delays stays
  // close to what the policy promises to sit out. Own arithmetic, because
  // std's distributions differ from library to library.
  const auto percent = static_cast<std::int64_t>(random_() % 11);
  return full - full / 100 * percent;
}

std::chrono::nanoseconds storage_deadline(const retry_policy& policy,
                                          std::chrono::nanoseconds attempt) {
  using limit = std::numeric_limits<std::int64_t>;
  const auto full = policy.with_defaults(retry_job::database);
  std::int64_t running = 0;
  std::int64_t total = 0;
  if (__builtin_mul_overflow(attempt.count(), std::int64_t{full.max_retries},
                             &running)
      || __builtin_add_overflow(running, full.calculate_total_delay().count(),
                                &total))
    total = limit::max();
  return std::chrono::nanoseconds{total};
}

} // namespace sqlstreams
