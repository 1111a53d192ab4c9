#pragma once

#include "actors/delivery.hpp"
#include "storage/message.hpp"

#include <string>
#include <string_view>

namespace sqlstreams {

/// Returns a stored message as one JSON object on one line, without its end:
/// id, payload (embedded if it is JSON, else in base64 as `payload_base64` with
/// its `content_type`), stream, keys (null where there is none), headers,
/// schema_version and created_at (as `timestamp_text`). With `run`, as it was
/// delivered, also attempt, delays and group. The one form of a message that
/// programs print.
std::string message_json(const message& what, std::string_view stream,
                         const delivery* run);

} // namespace sqlstreams
