#pragma once

#include <stop_token>

namespace sqlstreams {

/// Returns a token that is asked to stop by SIGTERM or SIGINT. The first call
/// takes over both signals for the rest of the process; further ones share it.
/// A second signal ends the process with status 128 + its number, at once but
/// for half a second in which outcomes already on their way may be recorded.
/// Thread-safe.
std::stop_token stop_on_signals();

} // namespace sqlstreams
