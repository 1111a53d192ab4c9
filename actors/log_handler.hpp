#pragma once

#include "actors/delivery.hpp"

#include <string>

namespace sqlstreams {

/// Returns a handler that prints each message as one line of JSON on standard
/// output: id, stream, group, attempt, created_at (microseconds since 1970),
/// keys and headers where there are any, and the payload: embedded if it is
/// JSON, else in base64 as `payload_base64`. A message that cannot be printed
/// whole is to be tried again. The handler may be called by several threads.
message_handler make_log_handler();

/// Returns that line, without its end.
std::string log_line_of(const delivery& run);

} // namespace sqlstreams
