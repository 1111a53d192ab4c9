#include "actors/json_line.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sqlstreams {

std::string json_quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

json_line& json_line::add(std::string_view name, std::string_view text) {
  return add_json(name, json_quoted(text));
}

json_line& json_line::add_optional(std::string_view name,
                                   std::string_view text) {
  return text.empty() ? add_json(name, "null") : add(name, text);
}

json_line& json_line::add_json(std::string_view name, std::string_view value) {
  if (text_.size() > 1)
    text_ += ',';
  text_ += json_quoted(name);
  text_ += ':';
  const auto start = static_cast<std::ptrdiff_t>(text_.size());
  text_ += value;
  // Inside a JSON string a line break is always escaped, so any that is found
  // stands between tokens.
  std::replace_if(
    text_.begin() + start, text_.end(),
    [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return *this;
}

std::string base64(std::string_view bytes) {
  static constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto byte = [&](std::size_t at) -> unsigned {
      return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0u;
    };
    const unsigned group = byte(i) << 16 | byte(i + 1) << 8 | byte(i + 2);
    for (unsigned digit = 0; digit < 4; ++digit)
      text += i + digit <= bytes.size() ? digits[group >> (18 - 6 * digit) & 63]
                                        : '=';
  }
  return text;
}

} // namespace sqlstreams
