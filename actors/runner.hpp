#pragma once
// Those who run handlers for a consumer session. A runner takes one chunk at a
// time (run_chunk) and reports it (chunk_finished); see messages.hpp.

#include "actors/abandoned_runs.hpp"
#include "actors/current_chunk.hpp"
#include "actors/delivery.hpp"
#include "actors/handler_thread.hpp"
#include "actors/messages.hpp"
#include "actors/overdue_answers.hpp"

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace sqlstreams {

struct runner_args {
  caf::actor owner;     ///< receives the reports
  std::size_t slot = 0; ///< its number there
  std::string stream;   ///< name
  std::string group;    ///< name
  std::chrono::nanoseconds timeout_grace{};
  std::shared_ptr<abandoned_runs> abandoned;
};

/// Starts a runner for the actor given first, which owns it. Tests and
/// simulations plug their own in.
using runner_factory =
  std::function<caf::actor(caf::event_based_actor*, runner_args)>;

/// Returns the factory for a handler: threads for a callable, requests for an
/// actor.
runner_factory make_runner_factory(handler_target target);

struct handler_runner_state {
  static inline const char* name = "sqlstreams.handler_runner";
  current_chunk chunk;
  std::unique_ptr<handler_thread> thread;
};

/// Runs a callable on a thread of its own.
caf::behavior handler_runner(caf::stateful_actor<handler_runner_state>* self,
                             runner_args args,
                             std::shared_ptr<const message_handler> handler);

struct actor_runner_state {
  static inline const char* name = "sqlstreams.actor_runner";
  current_chunk chunk;
  std::vector<run_result> results;
  std::optional<std::size_t> open{}; ///< index of the delivery that is out
  monotonic_time since{};            ///< it is out
  std::chrono::nanoseconds busy{};
  bool early_end = false;
  std::set<range_number> cancelled; ///< ranges whose lease is lost
  bool handler_gone = false;
  overdue_answers overdue;
};

/// Asks a handler actor, message after message.
caf::behavior actor_runner(caf::stateful_actor<actor_runner_state>* self,
                           runner_args args, caf::actor handler);

} // namespace sqlstreams
