#include "storage/memory/memory_session.hpp"

namespace sqlstreams {

namespace {

void record_first_run(memory_group& group, const exception_entry& entry,
                      delivery_log_mode mode, timestamp now) {
  const auto& change = entry.change;
  log_delivery(
    group, mode,
    {entry.id, change.history_attempt, change.history, entry.error, now});
  if (!change.keeps_row)
    return;
  // A row may be left of before the cursor was moved back: the new outcome
  // counts, unless that row runs just now.
  const auto* before = group.exceptions.find(entry.id);
  if (before && before->row.status == exception_status::inflight)
    return;
  memory_exception entered;
  entered.row = {entry.id,
                 change.status,
                 before ? before->row.message_key : entry.message_key,
                 before ? before->row.policy : entry.policy,
                 change.attempts,
                 change.delays,
                 later(now, change.run_after),
                 entry.error,
                 before ? before->row.created_at : now};
  group.exceptions.put(std::move(entered));
}

/// Ends a lease or narrows it.
/// @returns false if its holder has lost it, or settled this before
bool settle_lease(memory_group& group, const range_settlement& part) {
  const auto found = group.leases.find(part.token);
  if (found == group.leases.end())
    return false;
  auto& lease = found->second;
  if (part.resolved_to >= lease.range.high) {
    group.leases.erase(found);
    return true;
  }
  const bool surrenders = part.rest == unresolved_rest::surrendered;
  const bool narrows = part.resolved_to > lease.range.low;
  if (lease.surrendered || part.resolved_to < lease.range.low
      || !(narrows || surrenders))
    return false;
  lease.range.low = part.resolved_to;
  lease.surrendered = surrenders;
  if (narrows)
    lease.reclaims = 0;
  return true;
}

bool settle_range(memory_group& group, const range_settlement& part,
                  delivery_log_mode mode, timestamp now) {
  if (!settle_lease(group, part))
    return false;
  for (const auto& entry : part.exceptions)
    record_first_run(group, entry, mode, now);
  for (const auto id : part.successes)
    if (mode == delivery_log_mode::all)
      log_delivery(group, mode, {id, 0, history_kind::success, {}, now});
  return true;
}

/// @returns false if another instance holds the row or it is gone
bool settle_exception(memory_group& group, const exception_settlement& part,
                      delivery_log_mode mode, timestamp now) {
  const auto* held = group.exceptions.find(part.id);
  if (!held || held->token != part.token
      || held->row.status != exception_status::inflight)
    return false;
  const auto& change = part.change;
  log_delivery(
    group, mode,
    {part.id, change.history_attempt, change.history, part.error, now});
  if (!change.keeps_row) {
    group.exceptions.erase(part.id);
    return true;
  }
  memory_exception entry;
  entry.row = held->row;
  entry.row.status = change.status;
  entry.row.attempts = change.attempts;
  entry.row.delays = change.delays;
  entry.row.can_run_after = later(now, change.run_after);
  entry.row.last_error = part.error;
  group.exceptions.put(std::move(entry));
  return true;
}

} // namespace

settle_result memory_session::settle(const settle_request& request) {
  auto& group = state_->group(request.stream, request.group);
  const auto now = state_->now();
  settle_result result;
  for (const auto& part : request.ranges)
    if (!settle_range(group, part, request.history, now))
      result.lost_ranges.push_back(part.token);
  for (const auto& part : request.exceptions)
    if (!settle_exception(group, part, request.history, now))
      result.lost_exceptions.push_back(part.id);
  advance_committed(group);
  result.committed = group.committed;
  return result;
}

} // namespace sqlstreams
