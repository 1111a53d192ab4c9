#pragma once
// The producer behind spawn_producer; open to the node and to tests.

#include "actors/answer.hpp"
#include "actors/batcher.hpp"
#include "config/producer_config.hpp"
#include "storage/message_checks.hpp"
#include "storage/registration.hpp"

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

namespace sqlstreams {

struct producer_args {
  caf::actor storage;
  stream_info stream;
  producer_config config;              ///< valid, with defaults
  std::chrono::nanoseconds deadline{}; ///< of a transaction, all attempts
};

struct producer_state {
  static inline const char* name = "sqlstreams.producer";

  std::optional<batcher> batches;
  message_limits limits{};
  std::map<std::uint64_t, std::unique_ptr<answer>> owed; ///< by call
  std::uint64_t last_call = 0;
  bool ending = false;
};

/// Produces into one stream: checks messages, gathers calls into transactions,
/// answers each call. Told to end, it refuses what waits, finishes what is in
/// flight within `shutdown_grace`, and answers everybody.
caf::behavior producer(caf::stateful_actor<producer_state>* self,
                       producer_args args);

/// Returns the arguments of a producer.
/// @param retry of the storage pool, for the deadline of its requests
/// @throws error invalid_option
producer_args make_producer_args(caf::actor storage, stream_info stream,
                                 const producer_config& config,
                                 const retry_policy& retry);

/// Returns what a stream allows in its messages.
message_limits limits_of(const stream_config& config);

} // namespace sqlstreams
