#include "storage/memory/memory_session.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

void count_exceptions(group_lag& to, const memory_group& group) {
  for (const auto& one : group.exceptions.all())
    switch (one.second.row.status) {
    case exception_status::ready: ++to.ready; break;
    case exception_status::inflight: ++to.inflight; break;
    case exception_status::deferred: ++to.deferred; break;
    case exception_status::dead: ++to.dead; break;
    }
}

void count_backlog(group_lag& to, const memory_stream& stream) {
  static constexpr std::int64_t counted_up_to = 10'000;
  auto id = std::max(to.committed + 1, stream.first_retained);
  for (; id <= to.head && to.backlog <= counted_up_to; ++id)
    to.backlog += stream.find(id) ? 1 : 0;
  to.backlog_estimated = to.backlog > counted_up_to;
  if (to.backlog_estimated)
    to.backlog = std::max(to.backlog, to.head - to.committed);
}

} // namespace

group_lag memory_session::lag(stream_id stream_number, group_id group_number) {
  const auto& group = state_->group(stream_number, group_number);
  const auto& stream = state_->stream(stream_number);
  group_lag lag;
  lag.head = stream.top;
  lag.claimed = group.claimed;
  lag.committed = group.committed;
  lag.open_leases = static_cast<std::int64_t>(group.leases.size());
  count_backlog(lag, stream);
  count_exceptions(lag, group);
  return lag;
}

} // namespace sqlstreams
