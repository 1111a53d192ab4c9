#include "actors/session_shutdown.hpp"

#include "actors/log.hpp"
#include "actors/session_children.hpp"
#include "actors/shutdown_plan.hpp"
#include "config/duration.hpp"

#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>

#include <algorithm>
#include <utility>

namespace sqlstreams {

namespace {

void tell_handlers_to(session_ptr self, const auto& what) {
  auto& state = self->state;
  for (const auto& runner : state.runners)
    if (runner.actor)
      self->send(runner.actor.get(), what);
  const auto& exceptions = state[session_child::exception_consumer].actor;
  if (exceptions)
    self->send(exceptions.get(), what);
}

void report_end(const consumer_session_args& args,
                const consumer_session_state& state) {
  const auto& totals = state.totals;
  log_event(code::session_stopped, log_level::info, "a consumer session ended",
            {field("stream", args.spec.stream.name),
             field("group", args.spec.group.name),
             field("instance", args.spec.instance),
             field("reason", state.why_ended
                               ? std::string_view{state.why_ended->detail()}
                               : "asked to stop, or done"),
             field("claimed", totals.claimed), field("success", totals.success),
             field("ready", totals.ready), field("delayed", totals.delayed),
             field("deferred", totals.deferred), field("dead", totals.dead),
             field("reclaimed", totals.reclaimed),
             field("abandoned", totals.abandoned),
             field("lease_lost", totals.lease_lost),
             field("surrendered", totals.surrendered)});
}

void quit(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  report_end(args, state);
  for (auto& asker : state.askers)
    asker->give(state.totals);
  if (args.owner) {
    session_ended ended;
    ended.stream = args.spec.stream.name;
    ended.group = args.spec.group.name;
    ended.totals = state.totals;
    if (state.why_ended) {
      ended.reason = state.why_ended->detail();
      ended.fix = state.why_ended->fix();
      ended.recover = state.why_ended->recover();
      ended.code = static_cast<std::uint16_t>(state.why_ended->number());
    }
    self->send(args.owner, std::move(ended));
  }
  self->quit(caf::exit_reason::user_shutdown);
}

} // namespace

void begin_stop(session_ptr self, const consumer_session_args& args,
                std::optional<error> why) {
  auto& state = self->state;
  if (state.phase != session_phase::running)
    return;
  state.phase = session_phase::stopping;
  state.why_ended = std::move(why);
  state.queue.clear();
  state.tracker.surrender_all();
  tell_handlers_to(self, finish_early{});
  const auto& options = args.spec.options;
  const auto plan = plan_shutdown(shutdown_budget(state.group->config, options),
                                  options.timeout_grace, options.record_margin);
  log_note(log_level::info,
           "a consumer session stops: what runs may come to its end",
           {field("stream", args.spec.stream.name),
            field("group", args.spec.group.name),
            field("within", format_duration(plan.end))});
  self->delayed_send(
    self, plan.stop_handlers,
    stop_handlers_due{plan.abandon_handlers - plan.stop_handlers});
  self->delayed_send(self, plan.end, shutdown_over{});
}

bool all_done(const consumer_session_state& state) {
  const auto busy = [](const auto& runner) {
    return runner.items != nullptr;
  };
  const auto claiming = [](const auto& child) {
    return child.granted;
  };
  return std::none_of(state.runners.begin(), state.runners.end(), busy)
         && std::none_of(state.children.begin(), state.children.end(), claiming)
         && state.open_exceptions == 0 && state.tracker.empty()
         && state.ended_exceptions.empty();
}

void stop_handlers_now(session_ptr self, stop_handlers_due due) {
  if (!self->state.is_ending())
    tell_handlers_to(self, stop_handlers{due.grace});
}

void quit_if_alone(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  const auto lives = [](const auto& child) {
    return bool{child.actor};
  };
  if (state.is_ending()
      && std::none_of(state.children.begin(), state.children.end(), lives)
      && std::none_of(state.runners.begin(), state.runners.end(), lives))
    quit(self, args);
}

// In reverse order of starting. Each ends by itself at once: none waits.
void end_children(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  if (state.is_ending())
    return;
  state.phase = session_phase::ending;
  for (const auto& runner : state.runners)
    if (runner.actor)
      self->send_exit(runner.actor.get(), caf::exit_reason::user_shutdown);
  for (auto which = all_children.rbegin(); which != all_children.rend();
       ++which)
    if (state[*which].actor)
      self->send_exit(state[*which].actor.get(),
                      caf::exit_reason::user_shutdown);
  quit_if_alone(self, args);
}

void give_up_recording(session_ptr self, const consumer_session_args& args) {
  if (self->state.is_ending())
    return;
  log_note(log_level::warning,
           "the time for shutting down is over; what is not recorded runs "
           "again after its lease",
           {field("stream", args.spec.stream.name),
            field("group", args.spec.group.name),
            field("messages", self->state.tracker.unrecorded())});
  end_children(self, args);
}

// Whoever still handles a message does so in vain: it runs again in any case.
void end_unrecorded(session_ptr self, const consumer_session_args& args,
                    const error& why) {
  auto& state = self->state;
  if (state.is_ending())
    return;
  begin_stop(self, args, why);
  if (!state.why_ended) // it was asked to stop before
    state.why_ended = why;
  log_note(log_level::error,
           "outcomes can no longer be recorded; what is not recorded runs "
           "again after its lease",
           {field("stream", args.spec.stream.name),
            field("group", args.spec.group.name),
            field("messages", state.tracker.unrecorded()),
            field("error", why.what())});
  end_children(self, args);
}

} // namespace sqlstreams
