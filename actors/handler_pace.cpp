#include "actors/handler_pace.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// Weight of the newest observation: after four of them the old pace counts
/// for a quarter, so that a handler that turns slow is noticed within a batch.
constexpr double newest = 0.3;

} // namespace

void handler_pace::observe(std::size_t messages,
                           std::chrono::nanoseconds busy) noexcept {
  if (messages == 0)
    return;
  const auto seen = std::max(1.0, static_cast<double>(busy.count())
                                    / static_cast<double>(messages));
  mean_ns_ = mean_ns_ == 0 ? seen : mean_ns_ + newest * (seen - mean_ns_);
}

std::optional<std::chrono::nanoseconds>
handler_pace::per_message() const noexcept {
  if (mean_ns_ == 0)
    return std::nullopt;
  return std::chrono::nanoseconds{static_cast<std::int64_t>(mean_ns_)};
}

} // namespace sqlstreams
