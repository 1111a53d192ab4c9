#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// Returns a field of a JSON object as a key: a text as it is, a number or a
/// boolean as it is written. Empty if the payload is no object, has no such
/// field, or the field is empty, null or nested. Pure.
/// @pre the payload is valid JSON of bounded depth (see check_message)
std::optional<std::string> key_field(std::string_view payload,
                                     std::string_view field);

} // namespace sqlstreams
