#include "actors/lease_reclaimer.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/session_outcome.hpp"

#include <caf/event_based_actor.hpp>

namespace sqlstreams {

namespace {

/// reclaimer -> itself.
struct reclaim_poll_due {};

/// Killing is a backstop: claiming exceptions does most of it, so a look every
/// few seconds will do.
constexpr unsigned passes_per_kill = 10;

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::reclaim_poll_due)

namespace sqlstreams {

namespace {

using reclaimer_ptr = caf::stateful_actor<lease_reclaimer_state>*;
using args_ptr = std::shared_ptr<const session_child_args>;

void offer(reclaimer_ptr self, const session_child_args& args) {
  self->send(args.session, ready_to_claim{claim_source::expired, 1});
}

void poll_later(reclaimer_ptr self, const session_child_args& args) {
  self->delayed_send(
    self, with_jitter(args.options.claim_poll_rate, self->state.random),
    reclaim_poll_due{});
}

void report_reclaimed(reclaimer_ptr self, const session_child_args& args,
                      const reclaimed_range& taken) {
  if (!taken.surrendered)
    log_event(code::range_reclaimed, log_level::warning,
              "a range whose holder vanished is taken over",
              {field("stream", args.stream),
               field("group", self->state.group->name),
               field("after", taken.claimed.range.low),
               field("to", taken.claimed.range.high),
               field("holder", taken.previous_holder),
               field("reclaims", taken.claimed.reclaims)});
}

void report_quarantined(reclaimer_ptr self, const session_child_args& args,
                        const quarantined_range& taken) {
  log_event(code::range_quarantined, log_level::warning,
            "a range lost its holder too often; its messages run one by one",
            {field("stream", args.stream),
             field("group", self->state.group->name),
             field("after", taken.range.low), field("to", taken.range.high),
             field("messages", taken.messages),
             field("holder", taken.previous_holder)});
}

void take(reclaimer_ptr self, const session_child_args& args,
          reclaim_result& result, monotonic_time lease_end) {
  self->state.failing = false;
  ranges_reclaimed taken;
  taken.lease_end = lease_end;
  taken.quarantined = result.quarantined.size();
  for (const auto& range : result.quarantined)
    report_quarantined(self, args, range);
  for (auto& range : result.reclaimed) {
    report_reclaimed(self, args, range);
    taken.reclaimed += range.surrendered ? 0 : 1;
    taken.ranges.push_back(
      std::make_shared<const claimed_range>(std::move(range.claimed)));
  }
  const bool found = !taken.ranges.empty() || taken.quarantined > 0;
  self->send(args.session, std::move(taken));
  if (found)
    offer(self, args);
  else
    poll_later(self, args);
}

void pass_went_wrong(reclaimer_ptr self, const session_child_args& args,
                     const error& why) {
  self->send(args.session, ranges_reclaimed{});
  if (!may_ask_again(why))
    return fail_session(self, args.session, why);
  if (!self->state.failing)
    log_event(code::claim_failed, log_level::warning,
              "looking for expired leases failed; it is tried again at the "
              "next poll",
              {field("stream", args.stream),
               field("group", self->state.group->name),
               field("error", why.what())});
  self->state.failing = true;
  poll_later(self, args);
}

void kill_exhausted(reclaimer_ptr self, const args_ptr& args) {
  const auto& group = *self->state.group;
  kill_request request;
  request.stream = group.stream;
  request.group = group.id;
  request.budget = bounds_of(group.config);
  request.history = args->history;
  self
    ->request(args->storage, range_lease(group.config, args->options),
              std::move(request))
    .then(
      [=](const kill_result& result) {
        if (result.killed.empty())
          return;
        log_event(code::exceptions_killed, log_level::warning,
                  "messages whose consumers vanished too often are dead",
                  {field("stream", args->stream),
                   field("group", self->state.group->name),
                   field("messages", result.killed.size()),
                   field("first", result.killed.front())});
        self->send(args->session, exceptions_marked_dead{result.killed.size()});
      },
      // The reclaim beside it reports what is wrong with the database.
      [](const caf::error&) {});
}

void reclaim(reclaimer_ptr self, const args_ptr& args, claim_granted granted) {
  const auto& group = *self->state.group;
  if (self->state.passes++ % passes_per_kill == 0)
    kill_exhausted(self, args);
  reclaim_request request;
  request.stream = group.stream;
  request.group = group.id;
  request.schema_version = args->schema_version;
  request.limit = granted.limit;
  request.max_range_reclaims = group.config.max_range_reclaims;
  request.lease = range_lease(group.config, args->options);
  request.holder = args->holder;
  const auto lease_end = self->clock().now() + request.lease;
  const auto deadline = request.lease;
  self->request(args->storage, deadline, std::move(request))
    .then([=](reclaim_result& result) { take(self, *args, result, lease_end); },
          [=](const caf::error& e) {
            pass_went_wrong(self, *args, from_caf_error(e));
          });
}

} // namespace

caf::behavior lease_reclaimer(reclaimer_ptr self, session_child_args given) {
  const auto args =
    std::make_shared<const session_child_args>(std::move(given));
  self->state.random.seed(args->seed);
  self->state.group = args->group;
  offer(self, *args);
  return {
    // from the session
    [=](claim_granted granted) { reclaim(self, args, granted); },
    [=](group_changed& changed) {
      self->state.group = std::move(changed.group);
    },
    // from itself
    [=](reclaim_poll_due) { offer(self, *args); },
  };
}

} // namespace sqlstreams
