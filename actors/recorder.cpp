#include "actors/recorder.hpp"

#include "actors/call_times.hpp"
#include "actors/error_transport.hpp"
#include "actors/log.hpp"

#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace sqlstreams {

namespace {

/// recorder -> itself: the pause after a failure is over.
struct settle_again {};

constexpr std::chrono::nanoseconds first_pause = std::chrono::milliseconds{200};
constexpr std::chrono::nanoseconds longest_pause = std::chrono::seconds{5};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::settle_again)

namespace sqlstreams {

namespace {

using recorder_ptr = caf::stateful_actor<recorder_state>*;
using args_ptr = std::shared_ptr<const session_child_args>;
using batch_ptr = std::shared_ptr<record_outcomes>;

void settle_next(recorder_ptr self, const args_ptr& args);

template <class T>
void append(std::vector<T>& to, std::vector<T>& from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
  from.clear();
}

settle_request request_for(const session_child_args& args,
                           const record_outcomes& batch) {
  settle_request request;
  request.stream = args.group->stream;
  request.group = args.group->id;
  request.history = args.history;
  for (const auto& range : batch.ranges)
    request.ranges.push_back(range.settlement);
  for (const auto& exception : batch.exceptions)
    request.exceptions.push_back(exception.settlement);
  return request;
}

void report_lost(const session_child_args& args, std::size_t ranges,
                 std::size_t exceptions) {
  if (ranges + exceptions > 0)
    log_event(code::lease_lost, log_level::warning,
              "outcomes came too late: the leases are not ours any more and "
              "the messages run again",
              {field("stream", args.stream), field("group", args.group->name),
               field("ranges", ranges), field("exceptions", exceptions)});
}

// The store says lost as well about a part that took effect when it was asked
// for the first time, by far the likelier reason. Either way nothing of it is
// left to do; if the lease is really lost, the next settle of the range says
// so.
bool is_lost(const auto& lost, const auto& key, const auto& part) {
  return !part.maybe_done && lost.contains(key);
}

void tell_recorded(recorder_ptr self, const session_child_args& args,
                   const record_outcomes& batch, const settle_result& result) {
  const std::set<lease_token> lost_tokens{result.lost_ranges.begin(),
                                          result.lost_ranges.end()};
  const std::set<message_id> lost_ids{result.lost_exceptions.begin(),
                                      result.lost_exceptions.end()};
  outcomes_recorded told;
  for (const auto& range : batch.ranges)
    (is_lost(lost_tokens, range.settlement.token, range) ? told.lost_ranges
                                                         : told.ranges)
      .push_back(range.number);
  for (const auto& exception : batch.exceptions)
    (is_lost(lost_ids, exception.settlement.id, exception)
       ? told.lost_exceptions
       : told.exceptions)
      .push_back(exception.number);
  report_lost(args, told.lost_ranges.size(), told.lost_exceptions.size());
  self->send(args.session, std::move(told));
}

/// Takes out what cannot be recorded any more because its lease is over.
void drop_expired(recorder_ptr self, const session_child_args& args,
                  record_outcomes& batch) {
  const auto now = self->clock().now();
  outcomes_recorded told;
  std::erase_if(batch.ranges, [&](const pending_range& range) {
    if (range.lease_end > now)
      return false;
    told.lost_ranges.push_back(range.number);
    return true;
  });
  std::erase_if(batch.exceptions, [&](const pending_exception& exception) {
    if (exception.lease_end > now)
      return false;
    told.lost_exceptions.push_back(exception.number);
    return true;
  });
  if (told.lost_ranges.empty() && told.lost_exceptions.empty())
    return;
  report_lost(args, told.lost_ranges.size(), told.lost_exceptions.size());
  self->send(args.session, std::move(told));
}

void mark_maybe_done(record_outcomes& batch) {
  for (auto& range : batch.ranges)
    range.maybe_done = true;
  for (auto& exception : batch.exceptions)
    exception.maybe_done = true;
}

void keep(recorder_ptr self, record_outcomes& batch) {
  // What failed is older than what came meanwhile.
  auto& waiting = self->state.waiting;
  append(batch.ranges, waiting.ranges);
  append(batch.exceptions, waiting.exceptions);
  waiting = std::move(batch);
}

void settle_went_wrong(recorder_ptr self, const args_ptr& args,
                       record_outcomes& batch, const error& why) {
  auto& state = self->state;
  if (!may_ask_again(why)) {
    // Stays settling: whatever comes meanwhile would be refused as well.
    self->send(args->session,
               recording_failed{std::make_shared<const error>(why)});
    return;
  }
  if (state.failures == 0)
    log_note(log_level::warning,
             "outcomes cannot be recorded now; it is tried again",
             {field("stream", args->stream), field("group", args->group->name),
              field("error", why.what())});
  const auto pause =
    std::min(longest_pause, first_pause * (1 << std::min(state.failures, 8u)));
  ++state.failures;
  if (why.recover() == recovery::unknown)
    mark_maybe_done(batch);
  drop_expired(self, *args, batch);
  keep(self, batch);
  // Still counts as settling: what comes during the pause waits for its end.
  self->delayed_send(self, pause, settle_again{});
}

void settle_next(recorder_ptr self, const args_ptr& args) {
  auto& state = self->state;
  if (state.settling
      || (state.waiting.ranges.empty() && state.waiting.exceptions.empty()))
    return;
  state.settling = true;
  const auto batch =
    std::make_shared<record_outcomes>(std::exchange(state.waiting, {}));
  self->request(args->storage, settle_patience, request_for(*args, *batch))
    .then(
      [=](const settle_result& result) {
        self->state.failures = 0;
        self->state.settling = false;
        tell_recorded(self, *args, *batch, result);
        settle_next(self, args);
      },
      [=](const caf::error& e) {
        settle_went_wrong(self, args, *batch, from_caf_error(e));
      });
}

} // namespace

caf::behavior recorder(recorder_ptr self, session_child_args given) {
  const auto args =
    std::make_shared<const session_child_args>(std::move(given));
  return {
    // from the session
    [=](record_outcomes& outcomes) {
      append(self->state.waiting.ranges, outcomes.ranges);
      append(self->state.waiting.exceptions, outcomes.exceptions);
      settle_next(self, args);
    },
    [](const group_changed&) {},
    // from itself
    [=](settle_again) {
      self->state.settling = false;
      drop_expired(self, *args, self->state.waiting);
      settle_next(self, args);
    },
  };
}

} // namespace sqlstreams
