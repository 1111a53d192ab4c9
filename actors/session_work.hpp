#pragma once
// Claimed messages on their way through a consumer session.

#include "actors/consumer_session.hpp"

#include <memory>

namespace sqlstreams {

/// A claimed range arrived.
void take_range(session_ptr self, const consumer_session_args& args,
                const std::shared_ptr<const claimed_range>& claimed,
                monotonic_time lease_end, dispatch_queue::place where);

/// A runner reports a chunk.
void take_chunk_report(session_ptr self, const consumer_session_args& args,
                       const chunk_finished& report);

/// A runner died; its messages run again.
void take_back_chunk(consumer_session_state& state,
                     consumer_session_state::runner& runner);

/// Gives idle runners work.
void dispatch(session_ptr self, const consumer_session_args& args);

/// Lets children claim as far as there is room.
void grant_claims(session_ptr self, const consumer_session_args& args);

} // namespace sqlstreams
