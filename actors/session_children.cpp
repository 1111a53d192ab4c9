#include "actors/session_children.hpp"

#include "actors/claimer.hpp"
#include "actors/config_refresher.hpp"
#include "actors/error_transport.hpp"
#include "actors/exception_consumer.hpp"
#include "actors/lease_reclaimer.hpp"
#include "actors/log.hpp"
#include "actors/recorder.hpp"
#include "actors/session_recording.hpp"
#include "actors/session_work.hpp"

#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace sqlstreams {

namespace {

constexpr std::chrono::nanoseconds first_restart =
  std::chrono::milliseconds{10};
constexpr std::chrono::nanoseconds slowest_restart = std::chrono::seconds{2};

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
  if (self->state.is_ending())
    return;
  report_restart(args, name_of(which), reason);
  self->delayed_send(self, restart_delay(child.failures++), child_due{which});
}

void runner_went_down(session_ptr self, const consumer_session_args& args,
                      std::size_t slot, const caf::error& reason) {
  auto& runner = self->state.runners.at(slot);
  runner.actor.forget();
  take_back_chunk(self->state, runner);
  if (self->state.is_ending())
    return;
  report_restart(args, "handler_runner", reason);
  self->delayed_send(self, restart_delay(runner.failures++), runner_due{slot});
}

} // namespace

void start_child(session_ptr self, const consumer_session_args& args,
                 session_child which) {
  // The last outcomes still need a recorder; nobody else is needed any more.
  if (self->state.is_ending()
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

} // namespace sqlstreams
