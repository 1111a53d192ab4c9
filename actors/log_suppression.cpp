#include "actors/log_suppression.hpp"

namespace sqlstreams {

namespace {

/// Keys are static texts, so there are few; this bounds a caller that builds
/// them.
constexpr std::size_t many_keys = 1000;

} // namespace

std::optional<std::size_t> log_suppression::offer(const std::string& key,
                                                  time_point now) {
  auto found = entries_.find(key);
  if (found == entries_.end()) {
    if (entries_.size() >= many_keys)
      forget_old(now);
    entries_.emplace(key, entry{now, 0});
    return 0;
  }
  auto& known = found->second;
  if (now - known.written < interval_) {
    ++known.left_out;
    return std::nullopt;
  }
  const auto left_out = known.left_out;
  known = {now, 0};
  return left_out;
}

void log_suppression::forget_old(time_point now) {
  std::erase_if(entries_, [&](const auto& item) {
    return now - item.second.written >= interval_;
  });
}

} // namespace sqlstreams
