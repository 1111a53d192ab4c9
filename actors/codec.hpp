#pragma once
// From C++ types to payloads and back.

#include "config/error.hpp"
#include "storage/message.hpp"

#include <nlohmann/json.hpp>

#include <concepts>
#include <string>
#include <string_view>

namespace sqlstreams {

/// A payload as it is stored, for tools that read streams whatever their type.
/// It can be read but neither produced nor consumed: both need to know a schema
/// version.
struct raw_payload {
  std::string bytes;
};

/// The schema version of a type: its `static constexpr int schema_version`.
/// Specialize it for a type that cannot have one, such as `nlohmann::json`.
template <class T>
struct schema_version_of {
  static_assert(
    requires { T::schema_version; },
    "the payload type needs `static constexpr int schema_version = 1;` (raised "
    "on each breaking change), or a specialization of schema_version_of");
  static constexpr int value = T::schema_version;
};

/// Returns the JSON text of a value.
/// @throws error invalid_utf8, payload_not_encodable
std::string encode_json(const nlohmann::json& value);

/// Parses JSON text.
/// @throws error payload_not_json; the text itself never shows in it
nlohmann::json decode_json(std::string_view text);

/// How a type becomes a payload: JSON by nlohmann's `to_json` and `from_json`.
/// Specialize it for other forms:
///   - `static std::string encode(const T&)`
///   - `static T decode(std::string_view)`, throws what it likes on bad input
///   - `static constexpr std::string_view content_type`: what the bytes are;
///     leave it out if they are JSON
///   - `static constexpr payload_origin origin`: `encoder` if `encode` surely
///     writes valid JSON; leave it out to have each payload checked
template <class T>
struct codec {
  static constexpr auto origin = payload_origin::encoder;

  static std::string encode(const T& value) {
    return encode_json(nlohmann::json(value));
  }
  static T decode(std::string_view payload) {
    return decode_json(payload).template get<T>();
  }
};

/// Returns the content type of a codec's payloads; empty for JSON.
template <class T>
constexpr std::string_view content_type_of() {
  if constexpr (requires { codec<T>::content_type; })
    return codec<T>::content_type;
  else
    return {};
}

/// Returns who vouches for a codec's payloads.
template <class T>
constexpr payload_origin origin_of() {
  if constexpr (requires { codec<T>::origin; })
    return codec<T>::origin;
  else
    return payload_origin::text;
}

/// Types whose streams can be produced to and consumed from.
template <class T>
concept typed_payload = !std::same_as<T, raw_payload>;

} // namespace sqlstreams
