#include "actors/log.hpp"
#include "actors/runner.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/send.hpp>

namespace sqlstreams {

namespace {

/// runner -> itself: time to look at what runs.
struct watch_due {};

/// runner -> itself: the grace of a message that was asked to stop is over.
struct grace_over {
  std::uint64_t chunk = 0;
  std::size_t index = 0;
};

/// handler thread -> runner.
struct thread_finished {
  chunk_report report;
};
struct thread_freed {};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::watch_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::grace_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::thread_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::thread_freed)

namespace sqlstreams {

namespace {

using runner_ptr = caf::stateful_actor<handler_runner_state>*;

// One timer at a time, however many chunks it sees pass by.
void look_at(runner_ptr self, monotonic_time when) {
  auto& chunk = self->state.chunk;
  if (chunk.next_look && *chunk.next_look <= when)
    return;
  chunk.next_look = when;
  self->delayed_send(self, when - self->clock().now(), watch_due{});
}

void report(runner_ptr self, const runner_args& args, chunk_report&& ended,
            bool occupied) {
  auto results = self->state.chunk.finish(std::move(ended.results));
  self->send(args.owner,
             chunk_finished{args.slot, ended.number, std::move(results),
                            ended.busy, occupied});
}

/// @param index of the message that was judged: it may have ended since, and
///   the next one must not suffer for it
void stop_message(runner_ptr self, std::size_t index,
                  std::chrono::nanoseconds grace, stop_reason why) {
  auto& chunk = self->state.chunk;
  if (self->state.thread->stop_message(index))
    chunk.ask_to_end(index, why);
  self->delayed_send(self, grace, grace_over{chunk.number, index});
}

void look(runner_ptr self, const runner_args& args) {
  auto& chunk = self->state.chunk;
  chunk.next_look.reset();
  if (!chunk.items)
    return;
  const auto now = self->clock().now();
  const auto running = self->state.thread->running();
  const auto since = running ? std::optional{running->since} : std::nullopt;
  const auto timeout = running ? (*chunk.items)[running->index].options.timeout
                               : std::chrono::nanoseconds{};
  const auto verdict = chunk.watch.look(now, since, timeout);
  if (verdict.over)
    stop_message(self, running->index, args.timeout_grace,
                 stop_reason::over_time);
  else
    look_at(self, verdict.look_again);
}

void give_up(runner_ptr self, const runner_args& args, const grace_over& what) {
  auto& chunk = self->state.chunk;
  if (!chunk.items || chunk.number != what.chunk)
    return;
  auto given_up = self->state.thread->abandon(what.index);
  if (!given_up) // it came to an end: watch over the others
    return look_at(self, chunk.watch.first_look(self->clock().now()));
  const auto& item = (*chunk.items)[what.index];
  auto ended = chunk.given_up(what.index);
  log_event(code::handler_abandoned, log_level::warning,
            given_up->thread_kept
              ? "a handler does not end; its slot stays occupied until it does"
              : "a handler does not end; its result will be ignored",
            {field("stream", args.stream), field("group", args.group),
             field("message", item.message->id), field("reason", ended.error),
             field("abandoned", args.abandoned->count())});
  given_up->report.results[what.index] = {true, true, std::move(ended)};
  report(self, args, std::move(given_up->report), given_up->thread_kept);
}

handler_thread::settings
thread_settings(runner_ptr self, const runner_args& args,
                std::shared_ptr<const message_handler> handler) {
  const caf::actor me{self};
  handler_thread::settings settings;
  settings.handler = std::move(handler);
  settings.stream = args.stream;
  settings.group = args.group;
  settings.abandoned = args.abandoned;
  settings.finished = [me](chunk_report ended) {
    caf::anon_send(me, thread_finished{std::move(ended)});
  };
  settings.freed = [me] {
    caf::anon_send(me, thread_freed{});
  };
  return settings;
}

} // namespace

caf::behavior handler_runner(runner_ptr self, runner_args given,
                             std::shared_ptr<const message_handler> handler) {
  const auto args = std::make_shared<const runner_args>(std::move(given));
  self->state.thread = std::make_unique<handler_thread>(
    thread_settings(self, *args, std::move(handler)));
  return {
    // from the owner
    [=](const run_chunk& what) {
      auto& chunk = self->state.chunk;
      chunk.begin(what.number, what.items);
      self->state.thread->run(what.number, what.items);
      look_at(self, chunk.watch.first_look(self->clock().now()));
    },
    [=](cancel_range what) { self->state.thread->cancel_range(what.range); },
    [=](finish_early) { self->state.thread->finish_early(); },
    [=](stop_handlers what) {
      self->state.thread->finish_early();
      if (const auto running = self->state.thread->running())
        stop_message(self, running->index, what.grace, stop_reason::shutdown);
    },
    // from the thread
    [=](thread_finished& what) {
      report(self, *args, std::move(what.report), false);
    },
    [=](thread_freed) { self->send(args->owner, slot_freed{args->slot}); },
    // from itself
    [=](watch_due) { look(self, *args); },
    [=](const grace_over& what) { give_up(self, *args, what); },
  };
}

runner_factory make_runner_factory(handler_target target) {
  if (auto* actor = std::get_if<caf::actor>(&target))
    return [handler = *actor](caf::event_based_actor* owner, runner_args args) {
      return owner->spawn<caf::monitored>(actor_runner, std::move(args),
                                          handler);
    };
  auto shared = std::make_shared<const message_handler>(
    std::get<message_handler>(std::move(target)));
  return [shared](caf::event_based_actor* owner, runner_args args) {
    return owner->spawn<caf::monitored>(handler_runner, std::move(args),
                                        shared);
  };
}

} // namespace sqlstreams
