#pragma once
// The values that every protocol step speaks of: messages and their ids.

#include "config/message_options.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

namespace sqlstreams {

/// Position of a message in its stream: positive, unique, drawn from the
/// stream's sequence. Order means id order, everywhere.
using message_id = std::int64_t;

/// Number of a registered stream; part of its tables' names.
using stream_id = std::int64_t;

/// Number of a registered consumer group, unique in the installation.
using group_id = std::int64_t;

/// A time of the database's clock, in microseconds as PostgreSQL keeps it.
using timestamp =
  std::chrono::time_point<std::chrono::system_clock, std::chrono::microseconds>;

/// Caller's own name/value pairs, carried beside the payload.
using message_headers = std::map<std::string, std::string>;

/// Who vouches for a payload being valid JSON.
enum class payload_origin : std::uint8_t {
  text,    ///< typed by somebody: checked in full before it is sent
  encoder, ///< written by a JSON encoder: only checked for NUL and size
};

/// A message that is to be produced.
struct new_message {
  std::string payload;           ///< JSON text, or bytes with a content type
  std::string routing_key{};     ///< empty: none
  std::string message_key{};     ///< empty: none
  std::string content_type{};    ///< empty: JSON; else the payload is bytes
  message_headers headers{};     ///< empty: none
  message_options options{};     ///< sparse: what this message asks for
  std::string idempotency_key{}; ///< empty: none
  int schema_version = 1;        ///< >= 1
  payload_origin origin = payload_origin::text;
};

/// A stored message.
struct message {
  message_id id = 0;
  int schema_version = 1;
  std::string routing_key{}; ///< empty: none
  std::string message_key{}; ///< empty: none
  /// JSON text (the produced value, not its spelling), or bytes with a content
  /// type.
  std::string payload{};
  std::string content_type{}; ///< empty: JSON
  message_headers headers{};
  message_options options{}; ///< as produced, sparse
  timestamp created_at{};
  /// What is wrong with the stored row (headers or options that cannot be
  /// decoded); such a message is recorded dead instead of being handled.
  std::string defect{};
};

/// What became of one produced message.
struct produced {
  message_id id = 0; ///< of the stored message; the original's if duplicate
  bool duplicate = false; ///< the idempotency key had been used before

  bool operator==(const produced&) const = default;
};

} // namespace sqlstreams
