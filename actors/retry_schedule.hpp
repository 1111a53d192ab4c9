#pragma once

#include "config/diagnostic.hpp"
#include "config/retry_policy.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <random>

namespace sqlstreams {

/// What a call to the store may do to be tried again after a failure.
enum class repeatability : std::uint8_t {
  never,       ///< its sender asks again by itself, at its own pace
  if_not_done, ///< after a failure that did nothing
  always,      ///< also when nobody knows: doing it twice is doing it once
};

/// When a failed call to the store is tried again: by the policy's curve, each
/// delay shortened by up to a tenth so that clients that failed together do not
/// come back together. Pure but for its random numbers, which come from the
/// seed.
class retry_schedule {
public:
  /// @param policy of database calls; unset fields take their defaults
  explicit retry_schedule(const retry_policy& policy, std::uint32_t seed = 1);

  /// Returns how long to wait before the next attempt; empty if the failure
  /// stands.
  /// @param attempts made so far, >= 1
  std::optional<std::chrono::nanoseconds> next(int attempts, recovery failure,
                                               repeatability call);

private:
  retry_policy policy_;
  std::minstd_rand random_;
};

/// Returns for how long a call to the storage pool may take, all attempts
/// included: the policy's delays and `attempt` for each of its attempts.
/// Saturates.
std::chrono::nanoseconds
storage_deadline(const retry_policy& policy,
                 std::chrono::nanoseconds attempt = std::chrono::seconds{10});

} // namespace sqlstreams
