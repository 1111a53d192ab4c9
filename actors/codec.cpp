#include "actors/codec.hpp"

#include <fmt/format.h>

namespace sqlstreams {

namespace {

/// What the JSON library calls "string is not UTF-8" when it writes.
constexpr int not_utf8 = 316;

} // namespace

std::string encode_json(const nlohmann::json& value) {
  try {
    return value.dump();
  } catch (const nlohmann::json::exception& e) {
    // Its text quotes bytes of the value, so it is not passed on.
    if (e.id == not_utf8)
      throw error{code::invalid_utf8,
                  "a string in the payload is not valid UTF-8"};
    throw error{code::payload_not_encodable,
                fmt::format("the JSON encoder refused the value ({})", e.id)};
  }
}

nlohmann::json decode_json(std::string_view text) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::parse_error& e) {
    throw error{code::payload_not_json,
                fmt::format("the payload is not JSON from byte {} on", e.byte)};
  }
}

} // namespace sqlstreams
