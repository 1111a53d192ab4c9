#pragma once

#include <chrono>

namespace sqlstreams {

/// Counts the consumer sessions of this process, so that a second stop signal
/// can give them a moment. Thread-safe.
namespace live_sessions {

void opened();

/// Tells that a session has ended. Does not return if the process is being
/// ended by a second signal: its exit status must be the signal's.
void closed();

/// Waits until none is open, or for `patience`; from then on `closed` does not
/// return.
void wait_for_last(std::chrono::nanoseconds patience);

} // namespace live_sessions

} // namespace sqlstreams
