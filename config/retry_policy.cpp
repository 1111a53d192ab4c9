#include "config/retry_policy.hpp"

#include "config/checked_fields.hpp"

#include <algorithm>
#include <optional>

namespace sqlstreams {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

/// The policy with whatever cannot be calculated with set to its default.
retry_policy usable(retry_policy policy) {
  if (policy.max_retries < 1)
    policy.max_retries = 0;
  if (policy.base_delay <= 0ns)
    policy.base_delay = 0ns;
  if (policy.max_delay <= 0ns)
    policy.max_delay = 0ns;
  if (policy.exponent < 1)
    policy.exponent = 0;
  return policy.with_defaults(retry_job::database);
}

/// The sum of all sleeps; empty if it does not fit.
std::optional<nanoseconds> total_delay(const retry_policy& policy) {
  std::int64_t sum = 0;
  const std::int64_t sleeps = std::int64_t{policy.max_retries} - 1;
  for (std::int64_t attempt = 0; attempt < sleeps; ++attempt) {
    const auto delay = policy.calculate_delay(attempt);
    const bool flat = policy.exponent == 1 || delay >= policy.max_delay;
    // From here on all are alike: no need to walk through two billion.
    const std::int64_t times = flat ? sleeps - attempt : 1;
    std::int64_t part = 0;
    if (__builtin_mul_overflow(delay.count(), times, &part)
        || __builtin_add_overflow(sum, part, &sum))
      return std::nullopt;
    if (flat)
      break;
  }
  return nanoseconds{sum};
}

} // namespace

retry_policy retry_policy::with_defaults(retry_job job) const {
  auto policy = *this;
  set_default(policy.max_retries, job == retry_job::database ? 6 : 3);
  set_default(policy.base_delay, nanoseconds{1s});
  set_default(policy.max_delay, nanoseconds{5min});
  set_default(policy.exponent, 2);
  return policy;
}

std::vector<problem> retry_policy::validate(retry_job job) const {
  const auto policy = with_defaults(job);
  field_checks checks;
  checks.between("max_retries", policy.max_retries, 1, max_count);
  checks.between("max_delays", policy.max_delays, 0, max_count);
  checks.positive("base_delay", policy.base_delay);
  checks.positive("max_delay", policy.max_delay);
  checks.between("exponent", policy.exponent, 1, max_count);
  auto problems = checks.take();
  if (!problems.empty())
    return problems; // what follows would only repeat them
  if (policy.max_delay < policy.base_delay)
    checks.add("max_delay",
               "is " + format_duration(policy.max_delay) + ", below base_delay "
                 + format_duration(policy.base_delay),
               "a duration of at least base_delay", "base_delay");
  else if (!total_delay(policy))
    checks.add("max_retries",
               "is " + std::to_string(policy.max_retries)
                 + ": the sum of all delays exceeds 292 years",
               "fewer retries or shorter delays", "max_delay");
  return checks.take();
}

nanoseconds retry_policy::calculate_delay(std::int64_t attempt) const {
  const auto policy = usable(*this);
  const auto cap = policy.max_delay.count();
  auto delay = policy.base_delay.count();
  if (policy.exponent == 1)
    attempt = 0;
  // At most 63 rounds: with an exponent of 2 or more the delay reaches any cap.
  for (; attempt > 0 && delay < cap; --attempt)
    if (__builtin_mul_overflow(delay, std::int64_t{policy.exponent}, &delay))
      return policy.max_delay;
  return nanoseconds{std::min(delay, cap)};
}

nanoseconds retry_policy::calculate_total_delay() const {
  return total_delay(usable(*this)).value_or(nanoseconds::max());
}

} // namespace sqlstreams
