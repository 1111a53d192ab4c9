#include "storage/memory/memory_session.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// How often a message may be retried: what it asks for, else the group's
/// default, within the group's bounds.
std::int64_t budget_of(const memory_stream& stream, message_id id,
                       const budget_bounds& bounds) {
  const auto* one = stream.find(id);
  const auto asked =
    one && one->options.retry ? one->options.retry->max_retries : 0;
  const auto wanted =
    std::max(asked > 0 ? asked : bounds.max_retries, bounds.minimum);
  return bounds.maximum > 0 ? std::min(wanted, bounds.maximum) : wanted;
}

bool waits(const memory_exception& entry) {
  return entry.row.status == exception_status::ready
         || entry.row.status == exception_status::deferred;
}

bool is_due(const memory_exception& entry, timestamp now) {
  return waits(entry) && entry.row.can_run_after <= now;
}

bool has_expired(const memory_exception& entry, timestamp now) {
  return entry.row.status == exception_status::inflight
         && entry.lease_expires_at <= now;
}

std::int64_t failures(const memory_exception& entry) {
  return entry.row.attempts - entry.row.delays;
}

bool may_run(const memory_exception& entry, std::int64_t budget,
             timestamp now) {
  return (is_due(entry, now) && failures(entry) <= budget)
         || (has_expired(entry, now) && failures(entry) < budget);
}

bool is_exhausted(const memory_exception& entry, std::int64_t budget,
                  timestamp now) {
  return (waits(entry) && failures(entry) > budget)
         || (has_expired(entry, now) && failures(entry) >= budget);
}

std::string why_killed(const memory_exception& entry) {
  return entry.row.status == exception_status::inflight
           ? "its holder " + entry.holder
               + " did not report within the lease, and no retry is left"
           : "it has failed more often than the budget allows now";
}

} // namespace

exception_claim_result
memory_session::claim_exceptions(const exception_claim_request& request) {
  auto& group = state_->group(request.stream, request.group);
  const auto& stream = state_->stream(request.stream);
  const auto now = state_->now();
  exception_claim_result result;
  if (group.info.config.paused)
    return result;
  for (const auto id : group.exceptions.unresolved()) {
    if (result.claimed.size() == request.limit)
      break;
    auto& entry = *group.exceptions.find(id);
    const auto* one = stream.find(id);
    if (!one || one->schema_version != request.schema_version
        || !may_run(entry, budget_of(stream, id, request.budget), now))
      continue;
    if (entry.row.status == exception_status::inflight) {
      log_delivery(
        group, request.history,
        {id, entry.row.attempts, history_kind::expired,
         "its holder " + entry.holder + " did not report within the lease",
         now});
      ++entry.row.attempts;
    }
    // Never dead before or after: the queue need not be told.
    entry.row.status = exception_status::inflight;
    entry.token = state_->draw_token();
    entry.lease_expires_at = later(now, request.lease);
    entry.holder = request.holder;
    result.claimed.push_back(
      {entry.token, entry.row.attempts, entry.row.delays, *one});
  }
  return result;
}

kill_result memory_session::kill_exhausted(const kill_request& request) {
  auto& group = state_->group(request.stream, request.group);
  const auto& stream = state_->stream(request.stream);
  const auto now = state_->now();
  kill_result result;
  for (const auto id : group.exceptions.unresolved()) {
    if (result.killed.size() == request.limit)
      break;
    if (is_exhausted(*group.exceptions.find(id),
                     budget_of(stream, id, request.budget), now))
      result.killed.push_back(id);
  }
  for (const auto id : result.killed) {
    auto entry = *group.exceptions.find(id);
    const auto why = why_killed(entry);
    log_delivery(group, request.history,
                 {id, entry.row.attempts, history_kind::killed, why, now});
    auto& text = entry.row.last_error;
    text += (text.empty() ? "" : "\n") + why;
    entry.row.status = exception_status::dead;
    entry.token.clear();
    group.exceptions.put(std::move(entry));
  }
  advance_committed(group);
  return result;
}

std::vector<exception_row>
memory_session::list_exceptions(const exception_list_request& request) {
  const auto& all =
    state_->group(request.stream, request.group).exceptions.all();
  std::vector<exception_row> rows;
  for (auto at = all.upper_bound(request.after);
       at != all.end() && rows.size() < request.limit; ++at)
    if (!request.status || at->second.row.status == *request.status)
      rows.push_back(at->second.row);
  return rows;
}

std::vector<history_row>
memory_session::history(stream_id stream, group_id group, message_id id) {
  const auto& lines = state_->group(stream, group).history;
  const auto found = lines.find(id);
  return found == lines.end() ? std::vector<history_row>{} : found->second;
}

} // namespace sqlstreams
