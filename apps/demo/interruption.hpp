#pragma once

namespace sqlstreams::demo {

/// From now on SIGINT, SIGTERM and SIGHUP are only noted, so that the run can
/// clean up after itself, and writing to a closed pipe is an error like any
/// other.
void watch_interruptions();

/// Returns the last signal that was noted; 0: none.
int interruption() noexcept;

} // namespace sqlstreams::demo
