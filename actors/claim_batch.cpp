#include "actors/claim_batch.hpp"

#include <algorithm>
#include <cstdint>

namespace sqlstreams {

namespace {

/// Before anything is known: enough to learn from, little to wait for.
constexpr int first_batch = 100;

/// Long enough for the pace to tell whether the batch was the reason.
constexpr int careful_claims = 4;

} // namespace

claim_batch::claim_batch(const settings& given) noexcept
  : settings_{given}, ceiling_{std::min(first_batch, given.largest)} {}

int claim_batch::size(
  std::optional<std::chrono::nanoseconds> pace) const noexcept {
  if (settings_.fixed > 0)
    return settings_.fixed;
  if (!pace)
    return ceiling_;
  const auto per_message = std::max<std::int64_t>(pace->count(), 1);
  const auto rounds = settings_.margin.count() / 2 / per_message;
  const auto fitting = rounds >= settings_.largest
                         ? std::int64_t{settings_.largest}
                         : rounds * std::max(settings_.handlers, 1);
  return static_cast<int>(std::clamp<std::int64_t>(fitting, 1, ceiling_));
}

void claim_batch::claimed(int size) noexcept {
  if (careful_claims_ > 0) {
    --careful_claims_;
    return;
  }
  const auto twice =
    std::min<std::int64_t>(std::int64_t{size} * 2, settings_.largest);
  ceiling_ = std::max(ceiling_, static_cast<int>(twice));
}

void claim_batch::lease_was_too_short() noexcept {
  ceiling_ = std::max(1, ceiling_ / 2);
  careful_claims_ = careful_claims;
}

} // namespace sqlstreams
