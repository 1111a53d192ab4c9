#pragma once
// Outcomes on their way from a consumer session to its recorder, and what
// became of them.

#include "actors/consumer_session.hpp"

namespace sqlstreams {

/// A claimed exception has ended.
void take_exception(consumer_session_state& state, const exception_ended& what);

/// The recorder reports.
void take_recorded(session_ptr self, const consumer_session_args& args,
                   const outcomes_recorded& what);

/// Hands the recorder what can be recorded.
void record(session_ptr self, range_tracker::progress what);

/// Hands a new recorder all that its predecessor had.
void record_again(session_ptr self);

} // namespace sqlstreams
