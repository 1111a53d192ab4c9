#pragma once

#include "config/error.hpp"
#include "storage/message.hpp"

#include <cstddef>
#include <optional>

namespace sqlstreams {

/// What a stream allows in its messages.
struct message_limits {
  std::size_t max_payload_bytes = 16u << 20; ///< inclusive
  bool compacted = false;
};

/// Checks a message before it goes anywhere near the database: JSON (valid,
/// without NUL, nested at most 1,000 deep, numbers in range), UTF-8 of keys and
/// headers, sizes, schema version, and a key where its policy needs one.
/// @returns what is wrong, naming the field; empty if it may be produced
[[nodiscard]] std::optional<error> check_message(const new_message& candidate,
                                                 const message_limits& limits);

} // namespace sqlstreams
