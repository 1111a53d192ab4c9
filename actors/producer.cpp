#include "actors/producer.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/messages.hpp"
#include "actors/milliseconds.hpp"
#include "actors/retry_schedule.hpp"
#include "actors/spawn.hpp"
#include "config/resolve.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>

namespace sqlstreams {

namespace {

/// producer -> itself: what is in flight is not waited for any longer.
struct shutdown_grace_over {};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::shutdown_grace_over)

namespace sqlstreams {

namespace {

using producer_ptr = caf::stateful_actor<producer_state>*;
using shared_args = std::shared_ptr<const producer_args>;

template <class T>
void give(producer_ptr self, std::uint64_t call, T&& what) {
  auto found = self->state.owed.find(call);
  if (found == self->state.owed.end())
    return; // given up at shutdown
  found->second->give(std::forward<T>(what));
  self->state.owed.erase(found);
}

error in_batch(const error& e, std::size_t index, std::size_t size) {
  if (size == 1)
    return e;
  return {e.number(), e.recover(),
          fmt::format("message {} of {}: {}", index + 1, size, e.detail()),
          e.fix()};
}

// The whole call is refused, whatever else it holds: all or none.
std::optional<error> find_bad_message(const std::vector<new_message>& messages,
                                      const message_limits& limits) {
  for (std::size_t i = 0; i < messages.size(); ++i)
    if (auto bad = check_message(messages[i], limits))
      return in_batch(*bad, i, messages.size());
  return std::nullopt;
}

void quit_if_done(producer_ptr self) {
  if (self->state.ending && self->state.batches->in_flight() == 0)
    self->quit(caf::exit_reason::user_shutdown);
}

void run_next(producer_ptr self, const shared_args& args);

void answer_parts(producer_ptr self, const produce_batch& batch,
                  produce_reply& reply) {
  if (reply.messages.size() != batch.messages->size()) {
    for (const auto& part : batch.parts)
      give(self, part.call,
           to_caf_error(error{code::actor_failed, recovery::unknown,
                              "storage answered for another number of "
                              "messages than it was given"}));
    return;
  }
  if (batch.parts.size() == 1)
    return give(self, batch.parts.front().call, std::move(reply));
  for (const auto& part : batch.parts) {
    const auto first =
      reply.messages.begin() + static_cast<std::ptrdiff_t>(part.first);
    give(
      self, part.call,
      produce_reply{{first, first + static_cast<std::ptrdiff_t>(part.count)}});
  }
}

void end_well(producer_ptr self, const shared_args& args,
              const produce_batch& batch, produce_reply& reply) {
  self->state.batches->succeeded();
  answer_parts(self, batch, reply);
  run_next(self, args);
}

/// What failed inside of storage, an exception that nobody expected or an actor
/// that ended, may have failed after the commit.
error failure_of(const caf::error& e) {
  const auto failure = from_caf_error(e);
  if (failure.number() != code::actor_failed)
    return failure;
  return {failure.number(), recovery::unknown, failure.detail(),
          "Check before repeating; an idempotency key makes repeating safe."};
}

/// The failure as the producer of one call should read it: with the refused
/// message's place among its own, whatever shared the transaction with them.
error in_call(const error& failure, const produce_batch& batch,
              std::uint64_t call, std::optional<std::size_t> refused) {
  for (const auto& part : batch.parts)
    if (refused && part.call == call && *refused >= part.first
        && *refused < part.first + part.count)
      return in_batch(failure, *refused - part.first, part.count);
  return failure;
}

void end_badly(producer_ptr self, const shared_args& args,
               const produce_batch& batch, const caf::error& e) {
  auto& state = self->state;
  const auto failure = failure_of(e);
  const auto refused = refused_index(e);
  for (auto call : state.batches->failed(batch, failure, refused))
    give(self, call, to_caf_error(in_call(failure, batch, call, refused)));
  if (state.ending) // halves that would run again were never started
    for (auto call : state.batches->drop_waiting())
      give(self, call, to_caf_error(error{code::shutting_down}));
  run_next(self, args);
}

void report_if_slow(const producer_args& args, const produce_batch& batch,
                    std::chrono::nanoseconds took) {
  const auto threshold = args.config.slow_produce_threshold;
  if (threshold.count() > 0 && took > threshold)
    log_event(
      code::slow_produce, log_level::warning, "a produce transaction was slow",
      {field("stream", args.stream.name),
       field("messages", batch.messages->size()),
       field(
         "milliseconds",
         std::chrono::duration_cast<std::chrono::milliseconds>(took).count())});
}

void start_transaction(producer_ptr self, const shared_args& args,
                       produce_batch taken) {
  const auto batch = std::make_shared<const produce_batch>(std::move(taken));
  const auto started = self->clock().now();
  self
    ->request(args->storage, milliseconds_for(args->deadline),
              produce_request{args->stream.id, batch->messages,
                              args->config.batch.attempt_timeout})
    .then(
      [=](produce_reply& reply) {
        report_if_slow(*args, *batch, self->clock().now() - started);
        end_well(self, args, *batch, reply);
      },
      [=](const caf::error& e) {
        report_if_slow(*args, *batch, self->clock().now() - started);
        end_badly(self, args, *batch, e);
      });
}

void run_next(producer_ptr self, const shared_args& args) {
  while (auto batch = self->state.batches->next())
    start_transaction(self, args, std::move(*batch));
  quit_if_done(self);
}

// Returns why the call cannot be taken; empty if it was, or was answered.
std::optional<error> try_accept(producer_ptr self, const shared_args& args,
                                produce_messages& request, std::uint64_t call) {
  auto& state = self->state;
  if (state.ending)
    return error{code::shutting_down};
  for (auto& message : request.messages)
    message.options =
      merge_producer_defaults(message.options, args->config.message);
  if (auto bad = find_bad_message(request.messages, state.limits))
    return bad;
  if (!state.batches->add({call, std::move(request.messages), request.whole}))
    return error{code::overloaded,
                 fmt::format("{} produce calls are waiting for stream {}",
                             state.batches->waiting(), args->stream.name)};
  return std::nullopt;
}

caf::response_promise accept(producer_ptr self, const shared_args& args,
                             produce_messages& request) {
  auto& state = self->state;
  auto promise = caf::response_promise{self->make_response_promise()};
  const auto call = ++state.last_call;
  state.owed.emplace(call, std::make_unique<answer>(promise));
  if (request.messages.empty()) {
    give(self, call, produce_reply{});
  } else if (auto refusal = try_accept(self, args, request, call)) {
    give(self, call, to_caf_error(*refusal));
  } else {
    run_next(self, args);
  }
  return promise;
}

void give_up_waiting(producer_ptr self) {
  for (auto& item : self->state.owed)
    item.second->give(to_caf_error(
      error{code::no_answer, recovery::unknown,
            "the producer ended before the database answered; the messages "
            "may have been produced"}));
  self->state.owed.clear();
  self->quit(caf::exit_reason::user_shutdown);
}

void begin_end(producer_ptr self, const producer_args& args) {
  auto& state = self->state;
  if (state.ending)
    return;
  state.ending = true;
  for (auto call : state.batches->drop_waiting())
    give(self, call, to_caf_error(error{code::shutting_down}));
  const auto grace = args.config.batch.shutdown_grace;
  if (grace.count() < 0)
    return give_up_waiting(self);
  if (state.batches->in_flight() > 0)
    self->delayed_send(self, grace, shutdown_grace_over{});
  quit_if_done(self);
}

} // namespace

message_limits limits_of(const stream_config& config) {
  const auto full = config.with_defaults();
  return {static_cast<std::size_t>(full.max_payload_bytes),
          full.compaction.enabled};
}

producer_args make_producer_args(caf::actor storage, stream_info stream,
                                 const producer_config& config,
                                 const retry_policy& retry) {
  throw_if_any(config.validate(retry), "producer of " + stream.name);
  auto full = config.with_defaults();
  const auto deadline = storage_deadline(retry, full.batch.attempt_timeout);
  return {std::move(storage), std::move(stream), std::move(full), deadline};
}

caf::behavior producer(producer_ptr self, producer_args given) {
  const auto args = std::make_shared<const producer_args>(std::move(given));
  const auto& batch = args->config.batch;
  batcher_limits limits;
  limits.max_size = static_cast<std::size_t>(batch.max_size);
  limits.transactions = static_cast<std::size_t>(batch.concurrency_limit);
  limits.max_waiting = static_cast<std::size_t>(args->config.max_waiting);
  self->state.batches.emplace(limits);
  self->state.limits = limits_of(args->stream.config);
  self->set_exit_handler([=](const caf::exit_msg&) { begin_end(self, *args); });
  return {
    // from anyone
    [=](produce_messages& request) { return accept(self, args, request); },
    // from itself
    [=](shutdown_grace_over) { give_up_waiting(self); },
  };
}

caf::actor spawn_producer(caf::actor_system& system, caf::actor storage,
                          stream_info stream, const producer_config& config) {
  return system.spawn(producer,
                      make_producer_args(std::move(storage), std::move(stream),
                                         config, retry_policy{}));
}

} // namespace sqlstreams
