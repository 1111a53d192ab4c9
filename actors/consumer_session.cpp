#include "actors/consumer_session.hpp"

#include "actors/keyed_policy.hpp"
#include "actors/session_children.hpp"
#include "actors/session_recording.hpp"
#include "actors/session_shutdown.hpp"
#include "actors/session_work.hpp"
#include "actors/spawn.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

#include <utility>

namespace sqlstreams {

namespace {

/// session -> itself: record what ranges have got to.
struct progress_due {};

/// Long ranges are recorded in part so often: their holder is seen to get on,
/// and a crash repeats no more than this.
constexpr std::chrono::seconds record_progress_every{1};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::progress_due)

namespace sqlstreams {

namespace {

using args_ptr = std::shared_ptr<const consumer_session_args>;

void keep_progress_timer(session_ptr self) {
  auto& state = self->state;
  if (state.progress_timer || state.tracker.empty())
    return;
  state.progress_timer = true;
  self->delayed_send(self, record_progress_every, progress_due{});
}

void pump(session_ptr self, const consumer_session_args& args) {
  auto& state = self->state;
  if (state.is_ending())
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
    [=](const recording_failed& what) {
      end_unrecorded(self, *args, *what.why);
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
    [=](stop_handlers_due due) { stop_handlers_now(self, due); },
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
