#pragma once
// Between values of a type and messages of a stream.

#include "actors/codec.hpp"
#include "actors/delivery.hpp"
#include "actors/produce_options.hpp"
#include "storage/message.hpp"

#include <functional>
#include <optional>
#include <string_view>
#include <utility>

namespace sqlstreams {

/// Puts options into a message whose payload is encoded already.
new_message with_options(new_message message, produce_options options);

/// Returns a value as a message that can be produced.
/// @throws error invalid_utf8, payload_not_encodable
template <typed_payload T>
new_message encode(const T& value, produce_options options = {}) {
  static_assert(schema_version_of<T>::value >= 1,
                "schema_version must be at least 1");
  new_message message{.payload = codec<T>::encode(value)};
  message.content_type = content_type_of<T>();
  message.schema_version = schema_version_of<T>::value;
  message.origin = origin_of<T>();
  return with_options(std::move(message), std::move(options));
}

/// Handles messages of one type.
template <class T>
using typed_handler = std::function<outcome(const T&, delivery&)>;

/// Returns what became of a payload that does not decode: dead, with the reason
/// but without the payload.
/// @pre called in a catch clause
outcome undecodable();

/// Returns what becomes of a payload that is not of the codec's content type.
outcome wrong_content_type(const delivery& run, std::string_view expected);

/// Returns `handler` for stored payloads. One that does not decode is dead: no
/// later run could read it either.
template <typed_payload T>
message_handler decoding(typed_handler<T> handler) {
  return [handler = std::move(handler)](delivery& run) -> outcome {
    if (run.message.content_type != content_type_of<T>())
      return wrong_content_type(run, content_type_of<T>());
    std::optional<T> value;
    try {
      value.emplace(codec<T>::decode(run.message.payload));
    } catch (...) {
      return undecodable();
    }
    return handler(*value, run);
  };
}

} // namespace sqlstreams
