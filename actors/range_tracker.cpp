#include "actors/range_tracker.hpp"

#include <utility>

namespace sqlstreams {

void outcome_counts::add(const exception_change& change) noexcept {
  if (!change.keeps_row)
    ++success;
  else if (change.status == exception_status::dead)
    ++dead;
  else if (change.status == exception_status::deferred)
    ++deferred;
  else if (change.history == history_kind::delayed)
    ++delayed;
  else
    ++ready;
}

range_number range_tracker::add(lease_token token, id_range range,
                                std::vector<message_id> ids,
                                monotonic_time lease_end) {
  tracked entry;
  entry.token = std::move(token);
  entry.range = range;
  entry.stages.assign(ids.size(), stage::unstarted);
  entry.ids = std::move(ids);
  entry.lease_end = lease_end;
  ranges_.emplace(++last_, std::move(entry));
  return last_;
}

range_tracker::tracked* range_tracker::find(range_number number) noexcept {
  const auto found = ranges_.find(number);
  return found == ranges_.end() ? nullptr : &found->second;
}

bool range_tracker::start(range_number number, std::size_t index) {
  auto* range = find(number);
  if (!range || range->surrendered
      || range->stages.at(index) != stage::unstarted)
    return false;
  range->stages[index] = stage::running;
  ++range->running;
  return true;
}

void range_tracker::put_back(range_number number, std::size_t index) {
  auto* range = find(number);
  if (!range || range->stages.at(index) != stage::running)
    return;
  range->stages[index] = stage::unstarted;
  --range->running;
}

bool range_tracker::resolve(range_number number, std::size_t index,
                            std::optional<exception_entry> entry) {
  auto* range = find(number);
  if (!range || range->stages.at(index) == stage::resolved)
    return false;
  if (range->stages[index] == stage::running)
    --range->running;
  range->stages[index] = stage::resolved;
  ++range->resolved;
  if (entry)
    range->entries.emplace(index, std::move(*entry));
  while (range->prefix < range->stages.size()
         && range->stages[range->prefix] == stage::resolved)
    ++range->prefix;
  return true;
}

bool range_tracker::surrender(range_number number) {
  auto* range = find(number);
  if (!range || range->surrendered)
    return false;
  range->surrendered = true;
  return true;
}

void range_tracker::surrender_all() {
  for (auto& [number, range] : ranges_)
    range.surrendered = true;
}

bool range_tracker::lose(range_number number) {
  return ranges_.erase(number) > 0;
}

std::vector<pending_range> range_tracker::collect(progress what) {
  std::vector<pending_range> pending;
  for (auto& [number, range] : ranges_) {
    if (range.settling && !range.again)
      continue;
    const bool advanced = range.prefix > range.recorded;
    if (range.again || range.ends() || (what == progress::partial && advanced))
      pending.push_back(settle(number, range));
  }
  return pending;
}

pending_range range_tracker::settle(range_number number, tracked& range) const {
  pending_range pending;
  // The same once more, even if there is more by now: what took effect the
  // first time must not be written over.
  pending.maybe_done = std::exchange(range.again, false);
  if (!pending.maybe_done) {
    range.settling = range.prefix;
    range.settling_rest = range.ends() && !range.complete();
  }
  const auto prefix = *range.settling;
  pending.number = number;
  pending.lease_end = range.lease_end;
  auto& to = pending.settlement;
  to.token = range.token;
  to.rest =
    range.settling_rest ? unresolved_rest::surrendered : unresolved_rest::kept;
  // Ids without a message are resolved with the message before them. Where no
  // message is, the range stays as it is: empty ids are no progress that
  // excuses a crash loop.
  if (prefix == range.ids.size())
    to.resolved_to = range.range.high;
  else if (prefix > range.recorded)
    to.resolved_to = range.ids[prefix] - 1;
  else
    to.resolved_to = range.range.low;
  for (auto index = range.recorded; index < prefix; ++index) {
    const auto entry = range.entries.find(index);
    if (entry != range.entries.end())
      to.exceptions.push_back(entry->second);
    else if (record_successes_)
      to.successes.push_back(range.ids[index]);
  }
  return pending;
}

std::optional<recorded_range> range_tracker::recorded(range_number number) {
  auto* range = find(number);
  if (!range || !range->settling)
    return std::nullopt;
  recorded_range result;
  const auto to = *range->settling;
  const auto end = range->entries.lower_bound(to);
  for (auto entry = range->entries.begin(); entry != end; ++entry)
    result.counts.add(entry->second.change);
  result.counts.success += to - range->recorded - result.counts.total();
  range->entries.erase(range->entries.begin(), end);
  result.ended = range->settling_rest || to == range->ids.size();
  if (range->settling_rest)
    result.given_back = range->ids.size() - to;
  if (result.ended) {
    ranges_.erase(number);
    return result;
  }
  if (to > range->recorded)
    range->range.low = range->ids[to] - 1;
  range->recorded = to;
  range->settling.reset();
  return result;
}

void range_tracker::collect_again() {
  for (auto& [number, range] : ranges_)
    range.again = range.settling.has_value();
}

bool range_tracker::accepts(range_number number) const noexcept {
  const auto found = ranges_.find(number);
  return found != ranges_.end() && !found->second.surrendered;
}

std::size_t range_tracker::begun() const noexcept {
  std::size_t count = 0;
  for (const auto& [number, range] : ranges_)
    count += range.running + range.resolved - range.recorded;
  return count;
}

std::size_t range_tracker::unrecorded() const noexcept {
  std::size_t count = 0;
  for (const auto& [number, range] : ranges_)
    count += range.surrendered ? range.running + range.resolved - range.recorded
                               : range.ids.size() - range.recorded;
  return count;
}

} // namespace sqlstreams
