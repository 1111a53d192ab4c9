#include "actors/consumer_session.hpp"

#include "actors/claimer.hpp"
#include "actors/config_refresher.hpp"
#include "actors/error_transport.hpp"
#include "actors/exception_consumer.hpp"
#include "actors/keyed_policy.hpp"
#include "actors/lease_reclaimer.hpp"
#include "actors/log.hpp"
#include "actors/recorder.hpp"
#include "actors/shutdown_plan.hpp"
#include "actors/spawn.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>

#include <algorithm>
#include <utility>

namespace sqlstreams {

namespace {

/// session -> itself: replace a child, or the runner of a slot.
struct child_due {
  session_child which = session_child::recorder;
};
struct runner_due {
  std::size_t slot = 0;
};

/// session -> itself: record what ranges have got to.
struct progress_due {};

/// session -> itself: a step of the shutdown is due.
struct stop_handlers_due {
  std::chrono::nanoseconds grace{};
};
struct shutdown_over {};

/// Long ranges are recorded in part so often: their holder is seen to get on,
/// and a crash repeats no more than this.
constexpr std::chrono::seconds record_progress_every{1};

constexpr std::chrono::nanoseconds first_restart =
  std::chrono::milliseconds{10};
constexpr std::chrono::nanoseconds slowest_restart = std::chrono::seconds{2};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::child_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::runner_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::progress_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stop_handlers_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::shutdown_over)

namespace sqlstreams {

namespace {

using args_ptr = std::shared_ptr<const consumer_session_args>;

constexpr std::array all_children = {
  session_child::recorder, session_child::lease_reclaimer,
  session_child::claimer, session_child::exception_consumer,
  session_child::config_refresher};

session_child_args child_args(session_ptr self,
                              const consumer_session_args& args,
                              session_child which) {
  const auto& spec = args.spec;
  session_child_args given;
  given.session = caf::actor{self};
  given.storage = args.storage;
  given.stream = spec.stream.name;
  given.group = self->state.group;
  given.schema_version = spec.schema_version;
  given.options = spec.options;
  given.history = spec.stream.config.delivery_log;
  given.holder = spec.instance;
  given.seed = spec.seed * 31 + static_cast<std::uint32_t>(which);
  return given;
}

caf::actor spawn_child(session_ptr self, const consumer_session_args& args,
                       session_child which) {
  auto given = child_args(self, args, which);
  switch (which) {
  case session_child::recorder:
    return self->spawn<caf::monitored>(recorder, std::move(given));
  case session_child::lease_reclaimer:
    return self->spawn<caf::monitored>(lease_reclaimer, std::move(given));
  case session_child::claimer:
    return self->spawn<caf::monitored>(claimer, std::move(given));
  case session_child::exception_consumer:
    return self->spawn<caf::monitored>(
      exception_consumer,
      exception_consumer_args{std::move(given), args.start_runner,
                              self->state.abandoned});
  case session_child::config_refresher:
    return self->spawn<caf::monitored>(config_refresher, std::move(given));
  }
  return {};
}

bool is_ending(session_ptr self) {
  return self->state.phase == session_phase::ending;
}

void start_child(session_ptr self, const consumer_session_args& args,
                 session_child which) {
  // The last outcomes still need a recorder; nobody else is needed any more.
  if (is_ending(self)
      || (self->state.phase == session_phase::stopping
          && which != session_child::recorder))
    return;
  auto& child = self->state[which];
  child.wants.reset();
  child.granted.reset();
  child.actor = owned_actor{spawn_child(self, args, which)};
  if (which == session_child::recorder)
    record_again(self);
}

void start_runner(session_ptr self, const consumer_session_args& args,
                  std::size_t slot) {
  if (self->state.phase != session_phase::running)
    return;
  self->state.runners.at(slot).actor = owned_actor{args.start_runner(
    self, {caf::actor{self}, slot, args.spec.stream.name, args.spec.group.name,
           args.spec.options.timeout_grace, self->state.abandoned})};
}

std::chrono::nanoseconds restart_delay(unsigned failures) {
  return std::min(slowest_restart,
                  first_restart * (1 << std::min(failures, 8u)));
}

void report_restart(const consumer_session_args& args, std::string_view who,
                    const caf::error& reason) {
  log_event(code::actor_failed, log_level::warning,
            "a part of a consumer session ended unexpectedly; it is started "
            "again",
            {field("stream", args.spec.stream.name),
             field("group", args.spec.group.name), field("part", who),
             field("reason", from_caf_error(reason).detail())});
}

std::string_view name_of(session_child which) {
  switch (which) {
  case session_child::recorder: return "recorder";
  case session_child::lease_reclaimer: return "lease_reclaimer";
  case session_child::claimer: return "claimer";
  case session_child::exception_consumer: return "exception_consumer";
  case session_child::config_refresher: break;
  }
  return "config_refresher";
}

// What it was doing is in the database under leases, or still in the tracker.
void child_went_down(session_ptr self, const consumer_session_args& args,
                     session_child which, const caf::error& reason) {
  auto& child = self->state[which];
  child.actor.forget();
  child.wants.reset();
  child.granted.reset();
  if (which == session_child::exception_consumer)
    self->state.open_exceptions = 0;
  if (which == session_child::lease_reclaimer)
    self->state.reclaimed_once = true; // do not wait for it
  if (is_ending(self))
    return;
  report_restart(args, name_of(which), reason);
  self->delayed_send(self, restart_delay(child.failures++), child_due{which});
}

void runner_went_down(session_ptr self, const consumer_session_args& args,
                      std::size_t slot, const caf::error& reason) {
  auto& runner = self->state.runners.at(slot);
  runner.actor.forget();
  take_back_chunk(self->state, runner);
  if (is_ending(self))
    return;
  report_restart(args, "handler_runner", reason);
  self->delayed_send(self, restart_delay(runner.failures++), runner_due{slot});
}

void went_down(session_ptr self, const consumer_session_args& args,
               const caf::down_msg& down) {
  auto& state = self->state;
  for (const auto which : all_children)
    if (state[which].actor && state[which].actor.get().address() == down.source)
      return child_went_down(self, args, which, down.reason);
  for (std::size_t slot = 0; slot < state.runners.size(); ++slot)
    if (state.runners[slot].actor
        && state.runners[slot].actor.get().address() == down.source)
      return runner_went_down(self, args, slot, down.reason);
}

// -- shutdown ----------------------------------------------------------------

void tell_handlers_to(session_ptr self, const auto& what) {
  auto& state = self->state;
  for (const auto& runner : state.runners)
    if (runner.actor)
      self->send(runner.actor.get(), what);
  const auto& exceptions = state[session_child::exception_consumer].actor;
  if (exceptions)
    self->send(exceptions.get(), what);
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

void report_end(const consumer_session_args& args,
                const consumer_session_state& state) {
  const auto& totals = state.totals;
  log_event(code::session_stopped, log_level::info, "a consumer session ended",
            {field("stream", args.spec.stream.name),
             field("group", args.spec.group.name),
             field("instance", args.spec.instance),
             field("reason", state.why_ended ? state.why_ended->what()
                                             : "asked to stop, or done"),
             field("claimed", totals.claimed), field("success", totals.success),
             field("ready", totals.ready), field("delayed", totals.delayed),
             field("dead", totals.dead), field("reclaimed", totals.reclaimed),
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
      ended.reason = state.why_ended->what();
      ended.code = static_cast<std::uint16_t>(state.why_ended->number());
    }
    self->send(args.owner, std::move(ended));
  }
  self->quit(caf::exit_reason::user_shutdown);
}

void quit_if_alone(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  const auto lives = [](const auto& child) {
    return bool{child.actor};
  };
  if (is_ending(self)
      && std::none_of(state.children.begin(), state.children.end(), lives)
      && std::none_of(state.runners.begin(), state.runners.end(), lives))
    quit(self, args);
}

// In reverse order of starting. Each ends by itself at once: none waits.
void end_children(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  if (is_ending(self))
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
  if (is_ending(self))
    return;
  log_note(log_level::warning,
           "the time for shutting down is over; what is not recorded runs "
           "again after its lease",
           {field("stream", args.spec.stream.name),
            field("group", args.spec.group.name),
            field("messages", self->state.tracker.unrecorded())});
  end_children(self, args);
}

// -- what happens next -------------------------------------------------------

void keep_progress_timer(session_ptr self) {
  auto& state = self->state;
  if (state.progress_timer || state.tracker.empty())
    return;
  state.progress_timer = true;
  self->delayed_send(self, record_progress_every, progress_due{});
}

void pump(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  if (is_ending(self))
    return quit_if_alone(self, args);
  if (state.allowance.used_up() && state.phase == session_phase::running)
    begin_stop(self, args);
  dispatch(self, args);
  record(self, range_tracker::progress::ended);
  grant_claims(self, args);
  keep_progress_timer(self);
  if (state.phase == session_phase::stopping && all_done(state))
    end_children(self, args);
}

void take_ready(session_ptr self, ready_to_claim ready) {
  auto& state = self->state;
  switch (ready.source) {
  case claim_source::fresh:
    state[session_child::claimer].wants = ready.wanted;
    break;
  case claim_source::expired:
    state[session_child::lease_reclaimer].wants = ready.wanted;
    break;
  case claim_source::exceptions:
    state[session_child::exception_consumer].wants = ready.wanted;
    break;
  }
}

void take_fresh(session_ptr self, const consumer_session_args& args,
                const fresh_claimed& what) {
  auto& state = self->state;
  const auto granted =
    std::exchange(state[session_child::claimer].granted, std::nullopt);
  if (what.known)
    state.paused = what.paused;
  if (!what.claimed)
    return;
  if (granted)
    state.batch.claimed(static_cast<int>(*granted));
  take_range(self, args, what.claimed, what.lease_end,
             dispatch_queue::place::behind);
}

void take_reclaimed(session_ptr self, const consumer_session_args& args,
                    const ranges_reclaimed& what) {
  auto& state = self->state;
  state[session_child::lease_reclaimer].granted.reset();
  state.reclaimed_once = true;
  state.totals.reclaimed += what.reclaimed;
  state.totals.quarantined += what.quarantined;
  for (const auto& range : what.ranges)
    take_range(self, args, range, what.lease_end, dispatch_queue::place::ahead);
}

void take_group(session_ptr self, const consumer_session_args& args,
                const group_changed& changed) {
  auto& state = self->state;
  state.group = changed.group;
  state.paused = changed.group->config.paused;
  for (const auto which :
       {session_child::lease_reclaimer, session_child::claimer,
        session_child::exception_consumer})
    if (state[which].actor)
      self->send(state[which].actor.get(), changed);
  const auto policy = resolve({}, changed.group->config).policy;
  if (policy != concurrency::parallel)
    begin_stop(self, args,
               error{code::keyed_policy_unsupported,
                     "group " + args.spec.group.name + " of stream "
                       + args.spec.stream.name + " now asks for "
                       + std::string{to_string(policy)}});
}

void prepare(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  const auto& options = args.spec.options;
  const auto handlers = static_cast<std::size_t>(options.message_concurrency);
  state.group = std::make_shared<const group_info>(args.spec.group);
  state.paused = args.spec.group.config.paused;
  state.tracker = range_tracker{args.spec.stream.config.delivery_log
                                == delivery_log_mode::all};
  state.queue = dispatch_queue{
    {0, static_cast<std::size_t>(options.queue_bytes), handlers}};
  state.batch =
    claim_batch{{options.batch_limit, options.batch_max, options.queue_margin,
                 options.message_concurrency}};
  state.allowance = run_allowance{args.spec.max_messages};
  state.abandoned = std::make_shared<abandoned_runs>(handlers);
  state.runners.resize(handlers);
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
  self->delayed_send(
    self, plan.stop_handlers,
    stop_handlers_due{plan.abandon_handlers - plan.stop_handlers});
  self->delayed_send(self, plan.end, shutdown_over{});
}

caf::behavior consumer_session(session_ptr self, consumer_session_args given) {
  const auto args =
    std::make_shared<const consumer_session_args>(std::move(given));
  prepare(self, *args);
  self->set_down_handler([=](const caf::down_msg& down) {
    went_down(self, *args, down);
    pump(self, *args);
  });
  self->set_exit_handler([=](const caf::exit_msg&) {
    begin_stop(self, *args);
    pump(self, *args);
  });
  for (std::size_t slot = 0; slot < self->state.runners.size(); ++slot)
    start_runner(self, *args, slot);
  for (const auto which : all_children)
    start_child(self, *args, which);
  return {
    // from anyone
    [=](stop_consuming) {
      self->state.askers.push_back(std::make_unique<answer>(
        caf::response_promise{self->make_response_promise()}));
      begin_stop(self, *args);
      pump(self, *args);
      return caf::delegated<session_totals>{};
    },
    [=](get_session_totals) { return self->state.totals; },
    // from claimer, lease_reclaimer, exception_consumer
    [=](ready_to_claim what) {
      take_ready(self, what);
      pump(self, *args);
    },
    [=](const fresh_claimed& what) {
      take_fresh(self, *args, what);
      pump(self, *args);
    },
    [=](const ranges_reclaimed& what) {
      take_reclaimed(self, *args, what);
      pump(self, *args);
    },
    [=](exceptions_marked_dead what) { self->state.totals.dead += what.count; },
    [=](exceptions_claimed what) {
      self->state[session_child::exception_consumer].granted.reset();
      self->state.open_exceptions += what.count;
      self->state.totals.claimed += what.count;
      pump(self, *args);
    },
    [=](const exception_ended& what) {
      take_exception(self->state, what);
      pump(self, *args);
    },
    // from runners
    [=](const chunk_finished& what) {
      take_chunk_report(self, *args, what);
      pump(self, *args);
    },
    [=](slot_freed what) {
      self->state.runners.at(what.slot).occupied = false;
      pump(self, *args);
    },
    // from the recorder
    [=](const outcomes_recorded& what) {
      take_recorded(self, *args, what);
      pump(self, *args);
    },
    // from the config refresher
    [=](const group_changed& what) {
      take_group(self, *args, what);
      pump(self, *args);
    },
    // from any child
    [=](const session_failed& what) {
      begin_stop(self, *args, *what.why);
      pump(self, *args);
    },
    // from itself
    [=](child_due due) { start_child(self, *args, due.which); },
    [=](runner_due due) {
      start_runner(self, *args, due.slot);
      pump(self, *args);
    },
    [=](progress_due) {
      self->state.progress_timer = false;
      record(self, range_tracker::progress::partial);
      pump(self, *args);
    },
    [=](stop_handlers_due due) {
      if (!is_ending(self))
        tell_handlers_to(self, stop_handlers{due.grace});
    },
    [=](shutdown_over) { give_up_recording(self, *args); },
  };
}

consume_spec checked_spec(consume_spec spec) {
  const auto subject =
    "group " + spec.group.name + " of stream " + spec.stream.name;
  validate_or_throw(spec.options, subject);
  if (spec.schema_version < 1)
    throw error{code::invalid_schema_version,
                subject + ": the schema version is "
                  + std::to_string(spec.schema_version)};
  const auto* callable = std::get_if<message_handler>(&spec.handler);
  const auto* actor = std::get_if<caf::actor>(&spec.handler);
  if ((callable && !*callable) || (actor && !*actor))
    throw error{code::invalid_option, subject + ": there is no handler",
                "Give a callable or an actor"};
  refuse_keyed_policy(spec.group.config, subject);
  spec.options = spec.options.with_defaults();
  spec.group.config = spec.group.config.with_defaults();
  return spec;
}

caf::actor spawn_consumer_session(caf::actor_system& system, caf::actor storage,
                                  consume_spec spec, caf::actor owner) {
  consumer_session_args args;
  args.storage = std::move(storage);
  args.spec = checked_spec(std::move(spec));
  args.owner = std::move(owner);
  args.start_runner = make_runner_factory(std::move(args.spec.handler));
  return system.spawn(consumer_session, std::move(args));
}

} // namespace sqlstreams
