#include "actors/session_recording.hpp"

#include "actors/log.hpp"

#include <caf/event_based_actor.hpp>

#include <utility>

namespace sqlstreams {

namespace {

void count_recorded(consumer_session_state& state,
                    const outcome_counts& counts) {
  state.totals.success += counts.success;
  state.totals.ready += counts.ready;
  state.totals.delayed += counts.delayed;
  state.totals.deferred += counts.deferred;
  state.totals.dead += counts.dead;
  // What was given back unrun is not handled.
  state.allowance.record(counts.total() - counts.deferred);
}

void range_recorded(session_ptr self, const consumer_session_args& args,
                    range_number number) {
  auto& state = self->state;
  const auto done = state.tracker.recorded(number);
  if (!done)
    return;
  count_recorded(state, done->counts);
  state.totals.surrendered += done->given_back;
  if (done->counts.dead > 0)
    log_event(code::range_recorded_dead, log_level::warning,
              "messages were recorded as dead",
              {field("stream", args.spec.stream.name),
               field("group", args.spec.group.name),
               field("messages", done->counts.dead)});
}

void range_lost(session_ptr self, range_number number) {
  auto& state = self->state;
  if (!state.tracker.lose(number))
    return;
  ++state.totals.lease_lost;
  state.queue.drop(number);
  for (const auto& runner : state.runners)
    if (runner.actor && runner.items)
      self->send(runner.actor.get(), cancel_range{number});
}

void exception_recorded(consumer_session_state& state, std::uint64_t number) {
  const auto found = state.ended_exceptions.find(number);
  if (found == state.ended_exceptions.end())
    return;
  outcome_counts counts;
  counts.add(found->second.pending.settlement.change);
  count_recorded(state, counts);
  state.ended_exceptions.erase(found);
}

} // namespace

void take_exception(consumer_session_state& state,
                    const exception_ended& what) {
  if (state.open_exceptions > 0)
    --state.open_exceptions;
  state.totals.abandoned += what.abandoned ? 1 : 0;
  const auto number = ++state.last_exception;
  state.ended_exceptions[number] = {{number, what.settlement, what.lease_end},
                                    false};
}

void take_recorded(session_ptr self, const consumer_session_args& args,
                   const outcomes_recorded& what) {
  auto& state = self->state;
  for (const auto number : what.ranges)
    range_recorded(self, args, number);
  for (const auto number : what.lost_ranges)
    range_lost(self, number);
  for (const auto number : what.exceptions)
    exception_recorded(state, number);
  for (const auto number : what.lost_exceptions)
    state.totals.lease_lost += state.ended_exceptions.erase(number);
}

void record(session_ptr self, range_tracker::progress what) {
  auto& state = self->state;
  const auto& recorder = state[session_child::recorder].actor;
  if (!recorder)
    return;
  record_outcomes outcomes;
  outcomes.ranges = state.tracker.collect(what);
  for (auto& [number, exception] : state.ended_exceptions)
    if (!std::exchange(exception.sent, true))
      outcomes.exceptions.push_back(exception.pending);
  if (!outcomes.ranges.empty() || !outcomes.exceptions.empty())
    self->send(recorder.get(), std::move(outcomes));
}

void record_again(session_ptr self) {
  auto& state = self->state;
  state.tracker.collect_again();
  for (auto& [number, exception] : state.ended_exceptions)
    exception.pending.maybe_done = std::exchange(exception.sent, false);
  record(self, range_tracker::progress::partial);
}

} // namespace sqlstreams
