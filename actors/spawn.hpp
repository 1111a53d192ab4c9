#pragma once
// How a CAF developer starts our actors in their own actor_system. Ownership:
// whoever spawns an actor ends it (send_exit, or `stop_consuming` for a
// session), in reverse order of spawning; nothing here outlives its owner.

#include "actors/consume_spec.hpp"
#include "config/producer_config.hpp"
#include "config/retry_policy.hpp"
#include "storage/store.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace sqlstreams {

struct storage_pool_options {
  std::size_t max_connections = 8;  ///< workers, each with one connection
  std::size_t max_waiting = 10'000; ///< requests beyond are refused: overloaded
  retry_policy retry{};   ///< of database calls; unset fields take the defaults
  std::uint32_t seed = 1; ///< of the jitter
};

/// Starts the storage pool: detached workers, one connection each, that answer
/// the storage requests of messages.hpp. Transient failures of repeatable
/// calls are retried by the policy without blocking the worker's mailbox;
/// claims are not: their sender waits for its next poll. Nothing begins when
/// its asker has given up or could not use it, and a call that the database
/// does not answer is interrupted (call_times.hpp).
caf::actor spawn_storage_pool(caf::actor_system& system,
                              std::shared_ptr<store_factory> factory,
                              const storage_pool_options& options = {});

/// Starts the same over one session in an ordinary actor, for stores that do
/// not block: simulation and tests.
caf::actor spawn_inline_storage(caf::actor_system& system,
                                std::unique_ptr<store> session);

/// Starts the registrar: answers stream_declaration_request and
/// group_declaration_request (checked, registered, logged), register_system.
caf::actor spawn_registrar(caf::actor_system& system, caf::actor storage);

/// Starts the producer of one stream: answers produce_messages.
caf::actor spawn_producer(caf::actor_system& system, caf::actor storage,
                          stream_info stream, const producer_config& config);

/// Starts one consumer instance of a group. `owner` receives session_ended.
/// @throws error keyed_policy_unsupported, invalid_option
caf::actor spawn_consumer_session(caf::actor_system& system, caf::actor storage,
                                  consume_spec spec, caf::actor owner);

} // namespace sqlstreams
