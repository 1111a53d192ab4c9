#include "actors/session_work.hpp"

#include "actors/log.hpp"
#include "actors/session_outcome.hpp"
#include "actors/session_shutdown.hpp"
#include "config/duration.hpp"

#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <limits>
#include <utility>

namespace sqlstreams {

namespace {

using runner_type = consumer_session_state::runner;

/// Resolves options of a range's messages; most have none of their own.
class range_options {
public:
  explicit range_options(const consumer_config& group)
    : group_{group}, usual_{resolve({}, group)} {}

  resolved_options of(const message& subject) const {
    return subject.options == none_ ? usual_ : resolve(subject.options, group_);
  }

private:
  const consumer_config& group_;
  resolved_options usual_;
  message_options none_;
};

error keyed_policy_error(const consumer_session_args& args,
                         const message& subject, concurrency policy) {
  return error{code::keyed_policy_unsupported,
               "message " + std::to_string(subject.id) + " of stream "
                 + args.spec.stream.name + " asks for "
                 + std::string{to_string(policy)}};
}

void report_clamped(const consumer_session_args& args, const run_item& item) {
  log_event(code::options_clamped, log_level::warning,
            "a message asks for options outside of the group's bounds",
            {field("stream", args.spec.stream.name),
             field("group", args.spec.group.name),
             field("message", item.message->id)});
}

std::vector<message_id> ids_of(const claimed_range& range) {
  std::vector<message_id> ids;
  ids.reserve(range.messages.size());
  for (const auto& message : range.messages)
    ids.push_back(message.id);
  return ids;
}

/// Returns the messages of a range that are to run; broken ones are dead.
/// @returns also the first that this version cannot run
std::pair<std::vector<run_item>, std::optional<error>>
items_of(session_ptr self, const consumer_session_args& args,
         const std::shared_ptr<const claimed_range>& claimed,
         range_number number, monotonic_time lease_end) {
  auto& state = self->state;
  const auto& group = state.group->config;
  const range_options options{group};
  const auto now = self->clock().now();
  std::vector<run_item> items;
  items.reserve(claimed->messages.size());
  bool clamped = false;
  for (std::size_t i = 0; i < claimed->messages.size(); ++i) {
    const auto& subject = claimed->messages[i];
    run_item item;
    item.options = options.of(subject);
    if (!subject.defect.empty()) {
      state.tracker.resolve(number, i,
                            record_first_run(subject, dead(subject.defect),
                                             item.options,
                                             group.exception_initial_backoff));
      continue;
    }
    if (needs_key_gate(subject, item.options))
      return {{}, keyed_policy_error(args, subject, item.options.policy)};
    item.range = number;
    item.index = i;
    item.message = {claimed, &subject};
    item.queued_at = now;
    item.start_by =
      lease_end - needed_to_start(item.options.timeout, args.spec.options);
    if (item.options.clamped && !std::exchange(clamped, true))
      report_clamped(args, item);
    items.push_back(std::move(item));
  }
  return {std::move(items), std::nullopt};
}

void give_rest_back(session_ptr self, const consumer_session_args& args,
                    range_number number) {
  auto& state = self->state;
  if (!state.tracker.surrender(number))
    return; // said before
  state.batch.lease_was_too_short();
  log_event(code::lease_too_short, log_level::warning,
            "messages waited so long that their lease does not cover a run; "
            "the rest of their range is given back",
            {field("stream", args.spec.stream.name),
             field("group", args.spec.group.name)});
}

void report_slow_dispatch(const consumer_session_args& args,
                          const run_item& item, monotonic_time now) {
  const auto threshold = args.spec.options.slow_dispatch_threshold;
  if (threshold.count() > 0 && now - item.queued_at > threshold)
    log_event(code::slow_dispatch, log_level::warning,
              "a claimed message waited long for a handler",
              {field("stream", args.spec.stream.name),
               field("group", args.spec.group.name),
               field("message", item.message->id),
               field("waited", format_duration(now - item.queued_at))});
}

/// Returns how many messages may still be started.
std::size_t may_start(const consumer_session_state& state) {
  return state.allowance.left(state.tracker.begun() + state.open_exceptions
                              + state.ended_exceptions.size());
}

void give_chunk(session_ptr self, const consumer_session_args& args,
                runner_type& runner) {
  auto& state = self->state;
  const auto now = self->clock().now();
  auto chunk =
    state.queue.take(now, state.pace.per_message(), may_start(state));
  for (const auto number : chunk.too_late)
    give_rest_back(self, args, number);
  std::erase_if(chunk.items, [&](const run_item& item) {
    if (state.tracker.start(item.range, item.index))
      return false;
    state.queue.release(item);
    return true;
  });
  if (chunk.items.empty())
    return;
  report_slow_dispatch(args, chunk.items.front(), now);
  runner.chunk = ++state.last_chunk;
  runner.items =
    std::make_shared<const std::vector<run_item>>(std::move(chunk.items));
  self->send(runner.actor.get(), run_chunk{runner.chunk, runner.items});
}

bool is_idle(const runner_type& runner) {
  return runner.actor && !runner.items && !runner.occupied;
}

/// Messages that were handed out and did not run.
void take_unrun(consumer_session_state& state, std::vector<run_item> unrun) {
  std::erase_if(unrun, [&](const run_item& item) {
    state.tracker.put_back(item.range, item.index);
    if (state.tracker.accepts(item.range))
      return false;
    state.queue.release(item);
    return true;
  });
  state.queue.put_back(std::move(unrun));
}

/// Claimed and promised: what max_messages must have room for.
std::size_t open_messages(const consumer_session_state& state) {
  auto open = state.tracker.unrecorded() + state.open_exceptions
              + state.ended_exceptions.size();
  for (const auto& child : state.children)
    open += child.granted.value_or(0);
  return open;
}

void grant(session_ptr self, session_child which, claim_granted what) {
  auto& child = self->state[which];
  child.granted = what.limit;
  child.wants.reset();
  self->send(child.actor.get(), what);
}

bool waits(const consumer_session_state::child& child) {
  return child.actor && child.wants;
}

// Whatever its size: the store hands ranges over whole. One at a time then, and
// only when little is waiting.
void grant_reclaim(session_ptr self) {
  auto& state = self->state;
  if (waits(state[session_child::lease_reclaimer]) && !state.paused
      && state.queue.nearly_idle()
      && state.allowance.left(open_messages(state)) > 0)
    grant(self, session_child::lease_reclaimer, {1, 0});
}

void grant_fresh(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  // Expired ranges first; but while the group is paused nobody looks for them,
  // and it is the claims that notice the end of the pause.
  if (!waits(state[session_child::claimer])
      || !(state.reclaimed_once || state.paused))
    return;
  const auto size = state.batch.size(state.pace.per_message());
  state.queue.set_capacity(
    static_cast<std::size_t>(args.spec.options.queue_capacity(size)));
  const auto room = state.queue.room(static_cast<std::size_t>(size));
  const auto left = state.allowance.left(open_messages(state));
  if (room && left > 0)
    grant(self, session_child::claimer,
          {std::min(room->messages, left), room->bytes});
}

void grant_exceptions(session_ptr self) {
  auto& state = self->state;
  const auto& child = state[session_child::exception_consumer];
  const auto left = state.allowance.left(open_messages(state));
  if (waits(child) && !state.paused && left > 0)
    grant(self, session_child::exception_consumer,
          {std::min(*child.wants, left), 0});
}

} // namespace

void take_range(session_ptr self, const consumer_session_args& args,
                const std::shared_ptr<const claimed_range>& claimed,
                monotonic_time lease_end, dispatch_queue::place where) {
  auto& state = self->state;
  const auto number = state.tracker.add(claimed->token, claimed->range,
                                        ids_of(*claimed), lease_end);
  state.totals.claimed += claimed->messages.size();
  if (state.phase != session_phase::running) {
    // Claimed before the shutdown was known: somebody else starts it at once.
    state.tracker.surrender(number);
    return;
  }
  auto [items, cannot] = items_of(self, args, claimed, number, lease_end);
  if (cannot) {
    state.tracker.surrender(number);
    begin_stop(self, args, std::move(cannot));
    return;
  }
  state.queue.add(std::move(items), where);
}

void take_chunk_report(session_ptr self, const consumer_session_args&,
                       const chunk_finished& report) {
  auto& state = self->state;
  auto& runner = state.runners.at(report.slot);
  if (!runner.items || runner.chunk != report.number)
    return;
  const auto items = std::exchange(runner.items, nullptr);
  runner.occupied = report.occupied;
  const auto backoff = state.group->config.exception_initial_backoff;
  std::vector<run_item> unrun;
  std::size_t ran = 0;
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto& item = (*items)[i];
    const auto& result = report.results.at(i);
    if (!result.ran) {
      unrun.push_back(item);
      continue;
    }
    ++ran;
    state.totals.abandoned += result.abandoned ? 1 : 0;
    state.tracker.resolve(
      item.range, item.index,
      record_first_run(*item.message, result.result, item.options, backoff));
    state.queue.release(item);
  }
  state.pace.observe(ran, report.busy);
  take_unrun(state, std::move(unrun));
}

void take_back_chunk(consumer_session_state& state, runner_type& runner) {
  if (const auto items = std::exchange(runner.items, nullptr))
    take_unrun(state, *items);
  runner.occupied = false;
}

void dispatch(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  if (state.phase != session_phase::running)
    return;
  for (auto& runner : state.runners)
    if (is_idle(runner) && state.queue.waiting() > 0 && may_start(state) > 0)
      give_chunk(self, args, runner);
}

void grant_claims(session_ptr self, const consumer_session_args& args) {
  if (self->state.phase != session_phase::running)
    return;
  grant_reclaim(self);
  grant_exceptions(self);
  grant_fresh(self, args);
}

} // namespace sqlstreams
