#include "actors/exception_consumer.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/session_outcome.hpp"

#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace sqlstreams {

namespace {

/// exception_consumer -> itself.
struct exception_poll_due {};

/// exception_consumer -> itself: replace the runner of this slot.
struct exception_runner_due {
  std::size_t slot = 0;
};

constexpr std::chrono::milliseconds replace_runner_after{100};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_poll_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_runner_due)

namespace sqlstreams {

namespace {

using consumer_ptr = caf::stateful_actor<exception_consumer_state>*;
using args_ptr = std::shared_ptr<const exception_consumer_args>;
using slot_type = exception_consumer_state::slot;
using running_exception = exception_consumer_state::running_exception;

bool is_free(const slot_type& slot) {
  return slot.runner && !slot.running && !slot.occupied;
}

std::size_t free_slots(const exception_consumer_state& state) {
  return static_cast<std::size_t>(
    std::count_if(state.slots.begin(), state.slots.end(), is_free));
}

void offer(consumer_ptr self, const exception_consumer_args& args) {
  auto& state = self->state;
  const auto free = free_slots(state);
  if (state.asked || state.finishing || free == 0)
    return;
  state.asked = true;
  self->send(args.common.session,
             ready_to_claim{claim_source::exceptions, free});
}

void poll_later(consumer_ptr self, const exception_consumer_args& args) {
  if (self->state.poll_set)
    return;
  self->state.poll_set = true;
  self->delayed_send(
    self, with_jitter(args.common.options.claim_poll_rate, self->state.random),
    exception_poll_due{});
}

// A backlog is worked off as fast as slots get free, else the poll comes.
void go_on(consumer_ptr self, const exception_consumer_args& args) {
  if (self->state.maybe_more)
    offer(self, args);
  if (!self->state.asked)
    poll_later(self, args);
}

void end_exception(consumer_ptr self, const exception_consumer_args& args,
                   const running_exception& run, const outcome& ended,
                   bool abandoned) {
  exception_ended told;
  told.settlement =
    record_later_run(run.claimed, ended, run.options,
                     self->state.group->config.exception_initial_backoff);
  told.lease_end = run.lease_end;
  told.abandoned = abandoned;
  if (told.settlement.change.keeps_row
      && told.settlement.change.status == exception_status::dead)
    log_event(code::exception_dead, log_level::warning,
              "a message has used up its attempts and is dead",
              {field("stream", args.common.stream),
               field("group", self->state.group->name),
               field("message", run.claimed.message.id)});
  self->send(args.common.session, std::move(told));
}

/// Gives a claimed exception back as it came: it can be claimed at once, and no
/// attempt is charged.
outcome not_run() {
  outcome given_back;
  given_back.kind = outcome_kind::deferred;
  given_back.error = "claimed, but not started";
  return given_back;
}

void start(consumer_ptr self, const exception_consumer_args& args,
           running_exception run) {
  auto& state = self->state;
  const auto free =
    std::find_if(state.slots.begin(), state.slots.end(), is_free);
  if (free == state.slots.end() || state.finishing)
    return end_exception(self, args, run, not_run(), false);
  run.chunk = ++state.last_chunk;
  run_item item;
  item.message = std::make_shared<const message>(run.claimed.message);
  item.attempt = run.claimed.attempts;
  item.delays = run.claimed.delays;
  item.options = run.options;
  // The answer to the claim may have come late.
  item.start_by =
    run.lease_end - needed_to_start(run.options.timeout, args.common.options);
  self->send(free->runner.get(),
             run_chunk{run.chunk, std::make_shared<const std::vector<run_item>>(
                                    std::vector<run_item>{std::move(item)})});
  free->running = std::move(run);
}

void take_one(consumer_ptr self, const exception_consumer_args& args,
              claimed_exception& claimed, monotonic_time lease_end) {
  running_exception run;
  run.options = resolve(claimed.message.options, self->state.group->config);
  run.claimed = std::move(claimed);
  run.lease_end = lease_end;
  const auto& subject = run.claimed.message;
  if (!subject.defect.empty())
    return end_exception(self, args, run, dead(subject.defect), false);
  if (needs_key_gate(subject, run.options)) {
    const auto id = subject.id;
    end_exception(self, args, run, not_run(), false);
    return fail_session(self, args.common.session,
                        error{code::keyed_policy_unsupported,
                              "message " + std::to_string(id) + " asks for "
                                + std::string{to_string(run.options.policy)}});
  }
  start(self, args, std::move(run));
}

void take(consumer_ptr self, const exception_consumer_args& args,
          exception_claim_result& result, std::size_t limit,
          monotonic_time lease_end) {
  auto& state = self->state;
  state.failing = false;
  state.asked = false;
  state.maybe_more = result.claimed.size() >= limit;
  self->send(args.common.session, exceptions_claimed{result.claimed.size()});
  for (auto& claimed : result.claimed)
    take_one(self, args, claimed, lease_end);
  go_on(self, args);
}

void claim_went_wrong(consumer_ptr self, const exception_consumer_args& args,
                      const error& why) {
  auto& state = self->state;
  state.asked = false;
  state.maybe_more = false;
  self->send(args.common.session, exceptions_claimed{0});
  if (!may_ask_again(why))
    return fail_session(self, args.common.session, why);
  if (!state.failing)
    log_event(code::claim_failed, log_level::warning,
              "claiming exceptions failed; it is tried again at the next poll",
              {field("stream", args.common.stream),
               field("group", state.group->name), field("error", why.what())});
  state.failing = true;
  poll_later(self, args);
}

void claim(consumer_ptr self, const args_ptr& args, claim_granted granted) {
  const auto& common = args->common;
  const auto& group = *self->state.group;
  exception_claim_request request;
  request.stream = group.stream;
  request.group = group.id;
  request.schema_version = common.schema_version;
  request.limit = std::min(granted.limit, free_slots(self->state));
  if (request.limit == 0) { // its runner has gone meanwhile
    exception_claim_result nothing;
    return take(self, *args, nothing, 1, {});
  }
  request.lease = range_lease(group.config, common.options);
  request.holder = common.holder;
  request.budget = bounds_of(group.config);
  request.history = common.history;
  const auto limit = request.limit;
  const auto deadline = request.lease;
  const auto lease_end = self->clock().now() + request.lease;
  self->request(common.storage, deadline, std::move(request))
    .then(
      [=](exception_claim_result& result) {
        take(self, *args, result, limit, lease_end);
      },
      [=](const caf::error& e) {
        claim_went_wrong(self, *args, from_caf_error(e));
      });
}

void finish(consumer_ptr self, const exception_consumer_args& args,
            const chunk_finished& what) {
  auto& slot = self->state.slots.at(what.slot);
  if (!slot.running || slot.running->chunk != what.number)
    return;
  const auto run = std::move(*slot.running);
  slot.running.reset();
  slot.occupied = what.occupied;
  const auto& result = what.results.at(0);
  end_exception(self, args, run, result.ran ? result.result : not_run(),
                result.abandoned);
  go_on(self, args);
}

void start_runner(consumer_ptr self, const exception_consumer_args& args,
                  std::size_t slot) {
  self->state.slots.at(slot).runner = owned_actor{args.start_runner(
    self, {caf::actor{self}, slot, args.common.stream, args.common.group->name,
           args.common.options.timeout_grace, args.abandoned})};
  go_on(self, args);
}

void runner_went_down(consumer_ptr self, const exception_consumer_args& args,
                      const caf::down_msg& down) {
  auto& slots = self->state.slots;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    auto& slot = slots[i];
    if (!slot.runner || slot.runner.get().address() != down.source)
      continue;
    slot.runner.forget();
    slot.occupied = false;
    if (const auto run = std::exchange(slot.running, std::nullopt))
      end_exception(self, args, *run, not_run(), false);
    self->delayed_send(self, replace_runner_after, exception_runner_due{i});
  }
}

template <class Message>
void tell_runners(consumer_ptr self, const Message& what) {
  self->state.finishing = true;
  for (const auto& slot : self->state.slots)
    if (slot.runner)
      self->send(slot.runner.get(), what);
}

} // namespace

caf::behavior exception_consumer(consumer_ptr self,
                                 exception_consumer_args given) {
  const auto args =
    std::make_shared<const exception_consumer_args>(std::move(given));
  auto& state = self->state;
  state.random.seed(args->common.seed);
  state.group = args->common.group;
  self->set_down_handler(
    [=](const caf::down_msg& down) { runner_went_down(self, *args, down); });
  // At the start there may be a backlog of any age.
  state.maybe_more = true;
  state.slots.resize(
    static_cast<std::size_t>(args->common.options.exception_concurrency));
  for (std::size_t i = 0; i < state.slots.size(); ++i)
    start_runner(self, *args, i);
  return {
    // from the session
    [=](claim_granted granted) { claim(self, args, granted); },
    [=](group_changed& changed) {
      self->state.group = std::move(changed.group);
    },
    [=](finish_early what) { tell_runners(self, what); },
    [=](stop_handlers what) { tell_runners(self, what); },
    // from runners
    [=](const chunk_finished& what) { finish(self, *args, what); },
    [=](slot_freed what) {
      self->state.slots.at(what.slot).occupied = false;
      go_on(self, *args);
    },
    [=](session_failed& what) {
      self->send(args->common.session, std::move(what));
    },
    // from itself
    [=](exception_poll_due) {
      self->state.poll_set = false;
      offer(self, *args);
      if (!self->state.asked)
        poll_later(self, *args);
    },
    [=](exception_runner_due what) {
      if (!self->state.finishing)
        start_runner(self, *args, what.slot);
    },
  };
}

} // namespace sqlstreams
