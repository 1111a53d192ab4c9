#include "actors/run_watch.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// Adding centuries to a time would overflow; nobody waits for so long.
constexpr std::chrono::nanoseconds longest_wait = std::chrono::hours{24 * 365};

} // namespace

run_watch::run_watch(const std::vector<run_item>& items) noexcept
  : shortest_{longest_wait} {
  for (const auto& item : items)
    shortest_ = std::min(shortest_, item.options.timeout);
}

run_watch::verdict
run_watch::look(monotonic_time now, std::optional<monotonic_time> since,
                std::chrono::nanoseconds timeout) const noexcept {
  if (!since)
    return {false, first_look(now)};
  const auto deadline = *since + std::min(timeout, longest_wait);
  if (now >= deadline)
    return {true, {}};
  // A message that starts later than now ends no sooner than this.
  return {false, std::min(deadline, first_look(now))};
}

} // namespace sqlstreams
