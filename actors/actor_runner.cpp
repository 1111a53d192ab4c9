#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/runner.hpp"
#include "actors/session_outcome.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/sec.hpp>

namespace sqlstreams {

namespace {

/// runner -> itself: time to look at the open delivery.
struct delivery_watch_due {};

/// runner -> itself: the grace of a delivery that was asked to stop is over.
struct delivery_grace_over {
  std::uint64_t chunk = 0;
  std::size_t index = 0;
};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::delivery_watch_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::delivery_grace_over)

namespace sqlstreams {

namespace {

using runner_ptr = caf::stateful_actor<actor_runner_state>*;
using args_ptr = std::shared_ptr<const runner_args>;

void deliver_next(runner_ptr self, const args_ptr& args,
                  const caf::actor& handler, std::size_t from);

// One timer at a time: a deadline for each request would stay armed long after
// the answer.
void look_at(runner_ptr self, monotonic_time when) {
  auto& chunk = self->state.chunk;
  if (chunk.next_look && *chunk.next_look <= when)
    return;
  chunk.next_look = when;
  self->delayed_send(self, when - self->clock().now(), delivery_watch_due{});
}

void report(runner_ptr self, const runner_args& args, bool occupied = false) {
  auto& state = self->state;
  state.open.reset();
  auto results = state.chunk.finish(std::move(state.results));
  self->send(args.owner,
             chunk_finished{args.slot, state.chunk.number, std::move(results),
                            state.busy, occupied});
}

void free_slot(runner_ptr self, const runner_args& args) {
  self->send(args.owner, slot_freed{args.slot});
}

/// Ends the open delivery, if it is this one.
bool end_delivery(runner_ptr self, std::uint64_t chunk, std::size_t index,
                  outcome ended, bool abandoned = false) {
  auto& state = self->state;
  if (!state.chunk.items || state.chunk.number != chunk || state.open != index)
    return false; // given up before
  state.open.reset();
  state.busy += self->clock().now() - state.since;
  state.results[index] = {true, abandoned, std::move(ended)};
  return true;
}

void handler_ended(runner_ptr self, const runner_args& args,
                   const std::string& reason) {
  auto& state = self->state;
  if (state.handler_gone)
    return;
  state.handler_gone = true;
  if (state.chunk.items) {
    if (state.open)
      end_delivery(self, state.chunk.number, *state.open,
                   retry("the handler actor ended: " + reason));
    report(self, args);
  }
  if (state.overdue.clear())
    free_slot(self, args);
  self->send(args.owner, session_failed{std::make_shared<const error>(
                           code::actor_failed,
                           "the handler actor of group " + args.group
                             + " has ended: " + reason,
                           "Start the handler actor again, then consume")});
}

bool means_ended(const caf::error& e) {
  return e == caf::sec::request_receiver_down;
}

void send_delivery(runner_ptr self, const args_ptr& args,
                   const caf::actor& handler, std::size_t index) {
  auto& state = self->state;
  const auto chunk = state.chunk.number;
  const auto& item = (*state.chunk.items)[index];
  state.open = index;
  state.since = self->clock().now();
  const auto end = [=](outcome ended) {
    if (end_delivery(self, chunk, index, std::move(ended)))
      deliver_next(self, args, handler, index + 1);
    else if (self->state.overdue.answered({chunk, index}))
      free_slot(self, *args);
  };
  self
    ->request(handler, caf::infinite,
              deliver{item.message, args->stream, args->group, item.attempt,
                      item.delays, item.options, item.options.timeout})
    .then([=](const outcome& answered) { end(from_handler(answered)); },
          [=](const caf::error& e) {
            if (means_ended(e))
              handler_ended(self, *args, "it does not answer any more");
            else
              end(retry(from_caf_error(e).detail()));
          });
}

bool may_start(const actor_runner_state& state, const run_item& item,
               monotonic_time now) {
  return !state.early_end && now <= item.start_by
         && !state.cancelled.contains(item.range);
}

void deliver_next(runner_ptr self, const args_ptr& args,
                  const caf::actor& handler, std::size_t from) {
  const auto& items = *self->state.chunk.items;
  const auto now = self->clock().now();
  for (auto index = from; index < items.size(); ++index)
    if (may_start(self->state, items[index], now))
      return send_delivery(self, args, handler, index);
  report(self, *args);
}

/// Tells the handler that the open delivery is not wanted any more.
void send_stop(runner_ptr self, const runner_args& args,
               const caf::actor& handler) {
  const auto& item = (*self->state.chunk.items)[*self->state.open];
  self->send(handler, stop_delivery{item.message->id, args.stream, args.group,
                                    item.attempt});
}

void ask_to_end(runner_ptr self, const runner_args& args,
                const caf::actor& handler, std::chrono::nanoseconds grace,
                stop_reason why) {
  auto& state = self->state;
  send_stop(self, args, handler);
  state.chunk.ask_to_end(*state.open, why);
  self->delayed_send(self, grace,
                     delivery_grace_over{state.chunk.number, *state.open});
}

void cancel(runner_ptr self, const runner_args& args, const caf::actor& handler,
            range_number range) {
  auto& state = self->state;
  state.cancelled.insert(range);
  if (state.open && (*state.chunk.items)[*state.open].range == range)
    send_stop(self, args, handler);
}

void give_up(runner_ptr self, const runner_args& args,
             const delivery_grace_over& what) {
  auto& state = self->state;
  if (!state.chunk.items || state.chunk.number != what.chunk)
    return;
  if (state.open != what.index) // it was answered: watch over the others
    return look_at(self, state.chunk.watch.first_look(self->clock().now()));
  auto ended = state.chunk.given_up(what.index);
  const bool occupied = state.overdue.add({what.chunk, what.index});
  log_event(code::handler_abandoned, log_level::warning,
            occupied ? "a handler actor does not answer; the slot stays "
                       "occupied until it does"
                     : "a handler actor does not answer; its answer will be "
                       "ignored",
            {field("stream", args.stream), field("group", args.group),
             field("message", (*state.chunk.items)[what.index].message->id),
             field("reason", ended.error),
             field("abandoned", args.abandoned->count())});
  end_delivery(self, what.chunk, what.index, std::move(ended), true);
  report(self, args, occupied);
}

void look(runner_ptr self, const runner_args& args, const caf::actor& handler) {
  auto& state = self->state;
  state.chunk.next_look.reset();
  if (!state.chunk.items)
    return;
  const auto now = self->clock().now();
  const auto timeout = state.open
                         ? (*state.chunk.items)[*state.open].options.timeout
                         : std::chrono::nanoseconds{};
  const auto verdict = state.chunk.watch.look(
    now, state.open ? std::optional{state.since} : std::nullopt, timeout);
  if (verdict.over)
    ask_to_end(self, args, handler, args.timeout_grace, stop_reason::over_time);
  else
    look_at(self, verdict.look_again);
}

} // namespace

caf::behavior actor_runner(runner_ptr self, runner_args given,
                           caf::actor handler) {
  const auto args = std::make_shared<const runner_args>(std::move(given));
  self->state.overdue = overdue_answers{args->abandoned};
  self->monitor(handler);
  self->set_down_handler([=](const caf::down_msg& down) {
    handler_ended(self, *args,
                  down.reason ? from_caf_error(down.reason).detail()
                              : "it quit");
  });
  return {
    // from the owner
    [=](const run_chunk& what) {
      auto& state = self->state;
      state.chunk.begin(what.number, what.items);
      state.results.assign(what.items->size(), {});
      state.busy = {};
      state.early_end = state.handler_gone;
      state.cancelled.clear();
      look_at(self, state.chunk.watch.first_look(self->clock().now()));
      deliver_next(self, args, handler, 0);
    },
    [=](cancel_range what) { cancel(self, *args, handler, what.range); },
    [=](finish_early) { self->state.early_end = true; },
    [=](stop_handlers what) {
      self->state.early_end = true;
      if (self->state.open)
        ask_to_end(self, *args, handler, what.grace, stop_reason::shutdown);
    },
    // from itself
    [=](delivery_watch_due) { look(self, *args, handler); },
    [=](delivery_grace_over what) { give_up(self, *args, what); },
  };
}

} // namespace sqlstreams
