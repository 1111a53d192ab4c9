#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace sqlstreams {

/// One JSON object on one line, fields in the order they are added. Exists
/// because stored JSON is embedded as the text it is: parsing it for display
/// would change numbers and could be made to nest too deeply. Pure.
class json_line {
public:
  /// Adds a text; bytes that are not UTF-8 become U+FFFD.
  json_line& add(std::string_view name, std::string_view text);
  json_line& add(std::string_view name, const char* text) {
    return add(name, std::string_view(text));
  }
  json_line& add(std::string_view name, bool value) {
    return add_json(name, value ? "true" : "false");
  }
  template <std::integral Number>
  requires(!std::same_as<Number, bool>) json_line& add(std::string_view name,
                                                       Number value) {
    return add_json(name, std::to_string(value));
  }

  /// Adds a text, or null if it is empty.
  json_line& add_optional(std::string_view name, std::string_view text);

  /// Adds a value that is valid JSON already; line breaks between its tokens
  /// become blanks.
  json_line& add_json(std::string_view name, std::string_view value);

  /// Returns the object, without a line break.
  [[nodiscard]] std::string str() const { return text_ + "}"; }

private:
  std::string text_ = "{";
};

/// Returns a text as a JSON string with its quotes.
std::string json_quoted(std::string_view text);

/// Returns bytes in base64 (RFC 4648, section 4).
std::string base64(std::string_view bytes);

} // namespace sqlstreams
