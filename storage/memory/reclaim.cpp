#include "config/resolve.hpp"
#include "storage/memory/memory_session.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sqlstreams {

namespace {

/// Leases that anybody may take over, those of the lowest ranges first.
std::vector<lease_token> expired_leases(const memory_group& group,
                                        timestamp now, std::size_t limit) {
  std::vector<std::pair<message_id, lease_token>> found;
  for (const auto& [token, lease] : group.leases)
    if (lease.surrendered || lease.expires_at <= now)
      found.emplace_back(lease.range.low, token);
  std::sort(found.begin(), found.end());
  if (found.size() > limit)
    found.resize(limit);
  std::vector<lease_token> tokens;
  for (auto& one : found)
    tokens.push_back(std::move(one.second));
  return tokens;
}

/// Makes exceptions of messages; those that are some already stay as they are.
/// @returns how many it made
std::size_t quarantine(memory_group& group,
                       const std::vector<message>& messages, timestamp now) {
  std::size_t made = 0;
  for (const auto& one : messages) {
    if (group.exceptions.find(one.id))
      continue;
    memory_exception entry;
    entry.row.id = one.id;
    entry.row.message_key = one.message_key;
    entry.row.policy = resolve(one.options, group.info.config).policy;
    entry.row.can_run_after = entry.row.created_at = now;
    group.exceptions.put(std::move(entry));
    ++made;
  }
  return made;
}

} // namespace

reclaim_result memory_session::reclaim(const reclaim_request& request) {
  auto& group = state_->group(request.stream, request.group);
  const auto& stream = state_->stream(request.stream);
  const auto now = state_->now();
  reclaim_result result;
  if (group.info.config.paused)
    return result;
  for (const auto& old_token : expired_leases(group, now, request.limit)) {
    auto lease = group.leases.extract(old_token).mapped();
    auto messages =
      read_range(stream, group, lease.range, request.schema_version);
    if (lease.reclaims >= request.max_range_reclaims && !lease.surrendered) {
      result.quarantined.push_back(
        {lease.range, quarantine(group, messages, now), lease.holder});
      continue;
    }
    reclaimed_range taken;
    taken.surrendered = std::exchange(lease.surrendered, false);
    taken.previous_holder = std::exchange(lease.holder, request.holder);
    if (!taken.surrendered && lease.reclaims < std::numeric_limits<int>::max())
      ++lease.reclaims;
    lease.expires_at = later(now, request.lease);
    taken.claimed = {state_->draw_token(), lease.range, lease.reclaims,
                     std::move(messages)};
    group.leases[taken.claimed.token] = lease;
    result.reclaimed.push_back(std::move(taken));
  }
  // A quarantined range with nothing for the group holds the cursor no more.
  advance_committed(group);
  return result;
}

} // namespace sqlstreams
