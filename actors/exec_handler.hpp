#pragma once

#include "actors/delivery.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace sqlstreams {

/// Returns a handler that runs a command for each message. The command gets the
/// payload on standard input and the rest in its environment, beside ours
/// without SQLSTREAMS_DATABASE_URL:
///
///   SQLSTREAMS_ID, _STREAM, _GROUP, _ATTEMPT (zero-based), _DELAYS,
///   _SCHEMA_VERSION, _CONTENT_TYPE, _MESSAGE_KEY and _ROUTING_KEY (not set if
///   there is none), _HEADER_NAME for each header: its name in capitals, with
///   an underscore for all that is neither letter nor digit.
///
/// Exit status 0: done. 65 (EX_DATAERR): dead. Any other, or a signal: retry.
/// The end of its standard error, at most 8 KiB, is the error's text. Standard
/// output is ours. When the stop token fires, the command and its children are
/// asked to end (SIGTERM) and killed after `kill_after`; what still runs when
/// this process exits is killed, too.
///
/// The environment and the search path are those of this moment. The handler
/// may be called by several threads.
/// @param command program and arguments; the program is looked for in PATH if
///   it holds no slash
/// @throws error command_not_found; invalid_option if there is no command
message_handler make_exec_handler(
  std::vector<std::string> command,
  std::chrono::milliseconds kill_after = std::chrono::seconds{1});

} // namespace sqlstreams
