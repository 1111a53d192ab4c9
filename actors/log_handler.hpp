#pragma once

#include "actors/delivery.hpp"

namespace sqlstreams {

/// Returns a handler that prints each message on standard output, as
/// `message_json` writes it. A message that cannot be printed whole is to be
/// tried again. The handler may be called by several threads.
message_handler make_log_handler();

} // namespace sqlstreams
