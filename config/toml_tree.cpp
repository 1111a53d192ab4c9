#include "config/toml_tree.hpp"

#include "config/text_checks.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>

namespace sqlstreams {

namespace {

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 80;
  auto result = quote_text(cut_utf8(text, longest));
  return text.size() > longest ? result + "..." : result;
}

std::string shown(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

} // namespace

const toml_entry* toml_node::find(std::string_view key) const noexcept {
  const auto found =
    std::find_if(entries.begin(), entries.end(),
                 [&](const toml_entry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &*found;
}

std::string describe(const toml_node& node) {
  switch (node.type) {
  case toml_node::kind::table: return "a table";
  case toml_node::kind::array: return "an array";
  case toml_node::kind::text: return "the text " + shown(node.text);
  case toml_node::kind::integer:
    return "the number " + std::to_string(node.integer);
  case toml_node::kind::real: return "the number " + shown(node.real);
  case toml_node::kind::boolean: return node.boolean ? "true" : "false";
  case toml_node::kind::instant: return "a date and time";
  case toml_node::kind::other: return "a date or time without offset";
  }
  return "something else";
}

std::string quote_key(std::string_view key) {
  const bool bare =
    !key.empty() && std::all_of(key.begin(), key.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_'
             || c == '-';
    });
  return bare ? std::string(key) : quote_text(key);
}

std::string quote_text(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      (result += '\\') += c;
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04X", byte);
      result += escaped;
    } else {
      result += c;
    }
  }
  return result + '"';
}

} // namespace sqlstreams
