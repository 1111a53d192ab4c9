#include "config/message_options.hpp"

#include "config/checked_fields.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

retry_policy fill(retry_policy policy, const retry_policy& defaults) {
  set_default(policy.max_retries, defaults.max_retries);
  set_default(policy.max_delays, defaults.max_delays);
  set_default(policy.base_delay, defaults.base_delay);
  set_default(policy.max_delay, defaults.max_delay);
  set_default(policy.exponent, defaults.exponent);
  return policy;
}

/// Applies bounds that are positive.
template <class T>
T bound(T value, T minimum, T maximum) {
  if (minimum > T{})
    value = std::max(value, minimum);
  if (maximum > T{})
    value = std::min(value, maximum);
  return value;
}

/// As `bound`, for a count of which zero means "no cap".
int bound_cap(int value, int minimum, int maximum) {
  if (value == 0)
    return maximum;
  return bound(value, minimum, maximum);
}

retry_policy clamp(retry_policy policy, const retry_policy& minimum,
                   const retry_policy& maximum) {
  policy.max_retries =
    bound(policy.max_retries, minimum.max_retries, maximum.max_retries);
  policy.max_delays =
    bound_cap(policy.max_delays, minimum.max_delays, maximum.max_delays);
  policy.base_delay =
    bound(policy.base_delay, minimum.base_delay, maximum.base_delay);
  policy.max_delay =
    bound(policy.max_delay, minimum.max_delay, maximum.max_delay);
  policy.exponent = bound(policy.exponent, minimum.exponent, maximum.exponent);
  return policy;
}

} // namespace

message_options fill(const message_options& options,
                     const message_options& defaults) {
  auto result = options;
  if (!result.concurrency)
    result.concurrency = defaults.concurrency;
  set_default(result.timeout, defaults.timeout);
  if (!result.retry)
    result.retry = defaults.retry;
  else if (defaults.retry)
    result.retry = fill(*result.retry, *defaults.retry);
  return result;
}

std::optional<message_options>
fill(const std::optional<message_options>& options,
     const std::optional<message_options>& defaults) {
  if (!options && !defaults)
    return std::nullopt;
  return fill(options.value_or(message_options{}),
              defaults.value_or(message_options{}));
}

message_options clamp(const message_options& options,
                      const message_options& minimum,
                      const message_options& maximum) {
  auto result = options;
  result.timeout = bound(result.timeout, minimum.timeout, maximum.timeout);
  if (result.retry)
    result.retry = clamp(*result.retry, minimum.retry.value_or(retry_policy{}),
                         maximum.retry.value_or(retry_policy{}));
  return result;
}

std::optional<message_options>
clamp(const std::optional<message_options>& options,
      const std::optional<message_options>& minimum,
      const std::optional<message_options>& maximum) {
  if (!options)
    return std::nullopt;
  return clamp(*options, minimum.value_or(message_options{}),
               maximum.value_or(message_options{}));
}

message_options
resolve_concurrency(const std::optional<message_options>& options,
                    std::optional<concurrency> override_with) {
  auto result = options.value_or(message_options{});
  if (override_with)
    result.concurrency = override_with;
  else if (!result.concurrency)
    result.concurrency = concurrency::parallel;
  return result;
}

std::vector<problem> validate_sparse(const message_options& options) {
  field_checks checks;
  checks.not_negative("timeout", options.timeout);
  if (options.retry) {
    checks.between("retry.max_retries", options.retry->max_retries, 0,
                   max_count);
    checks.between("retry.max_delays", options.retry->max_delays, 0, max_count);
    checks.not_negative("retry.base_delay", options.retry->base_delay);
    checks.not_negative("retry.max_delay", options.retry->max_delay);
    checks.between("retry.exponent", options.retry->exponent, 0, max_count);
  }
  return checks.take();
}

} // namespace sqlstreams
