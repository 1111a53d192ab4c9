#include "actors/claimer.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "config/duration.hpp"

#include <caf/event_based_actor.hpp>

namespace sqlstreams {

namespace {

/// claimer -> itself.
struct claim_poll_due {};

/// A producer transaction of some seconds is nothing unusual; one that lasts
/// longer than this keeps people waiting.
constexpr std::chrono::seconds report_hold_after{10};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::claim_poll_due)

namespace sqlstreams {

namespace {

using claimer_ptr = caf::stateful_actor<claimer_state>*;
using args_ptr = std::shared_ptr<const session_child_args>;

void offer(claimer_ptr self, const session_child_args& args) {
  self->send(args.session, ready_to_claim{claim_source::fresh, 1});
}

void poll_later(claimer_ptr self, const session_child_args& args) {
  self->delayed_send(
    self, with_jitter(args.options.claim_poll_rate, self->state.random),
    claim_poll_due{});
}

/// A producer's transaction mostly ends within milliseconds, so a claim that
/// waits for one looks again soon, then ever more seldom.
void poll_held(claimer_ptr self, const session_child_args& args) {
  constexpr std::chrono::milliseconds first{5};
  constexpr int doublings = 10;
  auto& polls = self->state.held_up_polls;
  const auto wait = first * (1 << polls);
  if (polls == doublings || wait >= args.options.claim_poll_rate)
    return poll_later(self, args);
  ++polls;
  self->delayed_send(self, with_jitter(wait, self->state.random),
                     claim_poll_due{});
}

void report_hold(claimer_ptr self, const session_child_args& args,
                 const std::optional<claim_hold>& hold) {
  auto& state = self->state;
  if (!hold) {
    state.held_up_at = 0;
    state.held_up_polls = 0;
    return;
  }
  const auto now = self->clock().now();
  if (state.held_up_at != hold->missing) {
    state.held_up_at = hold->missing;
    state.held_up_since = now;
    state.held_up_polls = 0;
    state.held_up_reported = false;
  }
  if (state.held_up_reported || now - state.held_up_since < report_hold_after)
    return;
  state.held_up_reported = true;
  log_event(code::claim_held_up, log_level::warning,
            "a producer's open transaction holds claims up",
            {field("stream", args.stream), field("group", state.group->name),
             field("id", hold->missing), field("pid", hold->pid),
             field("application", hold->application),
             field("age", format_duration(hold->age))});
}

void report_retention(claimer_ptr self, const session_child_args& args,
                      const std::optional<id_range>& dropped) {
  if (dropped)
    log_event(code::cursor_behind_retention, log_level::warning,
              "the group stood before the oldest retained message; it goes on "
              "there",
              {field("stream", args.stream),
               field("group", self->state.group->name),
               field("after", dropped->low), field("to", dropped->high)});
}

void report_recovery(claimer_ptr self, const session_child_args& args) {
  if (!self->state.failing)
    return;
  self->state.failing = false;
  log_note(
    log_level::info, "claiming works again",
    {field("stream", args.stream), field("group", self->state.group->name)});
}

void take(claimer_ptr self, const session_child_args& args,
          claim_result& result, monotonic_time lease_end) {
  report_recovery(self, args);
  report_hold(self, args, result.hold);
  report_retention(self, args, result.behind_retention);
  fresh_claimed claimed;
  claimed.lease_end = lease_end;
  claimed.paused = result.paused;
  if (result.claimed)
    claimed.claimed =
      std::make_shared<const claimed_range>(std::move(*result.claimed));
  self->send(args.session, std::move(claimed));
  if (result.more)
    offer(self, args);
  else if (result.hold)
    poll_held(self, args);
  else
    poll_later(self, args);
}

void claim_went_wrong(claimer_ptr self, const session_child_args& args,
                      const error& why) {
  fresh_claimed nothing;
  nothing.known = false;
  self->send(args.session, std::move(nothing));
  if (!may_ask_again(why))
    return fail_session(self, args.session, why);
  if (!self->state.failing)
    log_event(code::claim_failed, log_level::warning,
              "claiming failed; it is tried again at the next poll",
              {field("stream", args.stream),
               field("group", self->state.group->name),
               field("error", why.what())});
  self->state.failing = true;
  poll_later(self, args);
}

void claim(claimer_ptr self, const args_ptr& args, claim_granted granted) {
  const auto& group = *self->state.group;
  claim_request request;
  request.stream = group.stream;
  request.group = group.id;
  request.schema_version = args->schema_version;
  request.limit = granted.limit;
  request.limit_bytes = granted.limit_bytes;
  request.lease = range_lease(group.config, args->options);
  request.holder = args->holder;
  // From before the claim is sent: what the database says may only be later.
  const auto lease_end = self->clock().now() + request.lease;
  // An answer that comes after the lease is none.
  const auto deadline = request.lease;
  self->request(args->storage, deadline, std::move(request))
    .then([=](claim_result& result) { take(self, *args, result, lease_end); },
          [=](const caf::error& e) {
            claim_went_wrong(self, *args, from_caf_error(e));
          });
}

} // namespace

caf::behavior claimer(claimer_ptr self, session_child_args given) {
  const auto args =
    std::make_shared<const session_child_args>(std::move(given));
  self->state.random.seed(args->seed);
  self->state.group = args->group;
  offer(self, *args);
  return {
    // from the session
    [=](claim_granted granted) { claim(self, args, granted); },
    [=](group_changed& changed) {
      self->state.group = std::move(changed.group);
    },
    // from itself
    [=](claim_poll_due) { offer(self, *args); },
  };
}

} // namespace sqlstreams
