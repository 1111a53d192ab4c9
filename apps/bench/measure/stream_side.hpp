#pragma once
// Our side: the same rows as messages of a stream.

#include "actors/client.hpp"
#include "apps/bench/measure/rate.hpp"

#include <chrono>
#include <cstddef>
#include <string>

namespace sqlstreams::bench {

/// Registers a stream and produces explicit batches into it for a while, from
/// `callers` threads that wait for each.
rate produce_batches(const client& db, const std::string& stream, int callers,
                     std::size_t batch, std::chrono::seconds duration);

/// Registers a stream and stores `count` messages in it.
void preload(const client& db, const std::string& stream, std::size_t count);

/// Registers a group and has it handle all of a stream's `count` messages by a
/// handler that does nothing, until every outcome is recorded.
/// @throws std::runtime_error if the group does not end up at the head
rate consume_all(const client& db, const std::string& stream,
                 const std::string& group, std::size_t count, int handlers);

} // namespace sqlstreams::bench
