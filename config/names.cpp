#include "config/names.hpp"

#include "config/text_checks.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace sqlstreams {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool in_name(char c) {
  return is_lower(c) || is_digit(c) || c == '.' || c == '_' || c == '-';
}

bool in_schema(char c) { return is_lower(c) || is_digit(c) || c == '_'; }

/// The rule of one kind of name.
struct name_rule {
  std::string what; ///< "stream name"
  std::size_t max_bytes;
  bool (*allowed)(char);
  std::string_view allowed_text;
};

/// Shows a name that may be anything: cut, with odd bytes as \xNN.
std::string quoted(std::string_view name) {
  std::string text = "\"";
  const bool cut = name.size() > 60;
  for (char c : name.substr(0, 60)) {
    const auto byte = static_cast<unsigned char>(c);
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, "\\x%02X", byte);
    text +=
      byte < 0x20 || byte >= 0x7f ? std::string(escaped) : std::string(1, c);
  }
  return text + (cut ? "...\"" : "\"");
}

/// What stands at a position, as a person would call it.
std::string character_at(std::string_view name, std::size_t position) {
  const auto rest = name.substr(position);
  const auto first = static_cast<unsigned char>(rest.front());
  if (first == ' ')
    return "a blank";
  for (std::size_t size : {1, 2, 3, 4})
    if (first > 0x20 && first != 0x7f && is_valid_utf8(rest.substr(0, size)))
      return "'" + std::string(rest.substr(0, size)) + "'";
  char byte[16];
  std::snprintf(byte, sizeof byte, "byte 0x%02X", first);
  return byte;
}

error refuse(const name_rule& rule, std::string_view name,
             const std::string& why, code number = code::invalid_name) {
  return error{number, rule.what + " " + quoted(name) + " " + why,
               "use 1 to " + std::to_string(rule.max_bytes) + " bytes of "
                 + std::string(rule.allowed_text)};
}

std::optional<error> check(const name_rule& rule, std::string_view name) {
  if (name.empty())
    return refuse(rule, name, "is empty");
  const auto* bad = std::find_if_not(name.begin(), name.end(), rule.allowed);
  if (bad != name.end()) {
    const auto at = static_cast<std::size_t>(bad - name.begin());
    return refuse(rule, name,
                  "has " + character_at(name, at) + " at byte "
                    + std::to_string(at + 1));
  }
  if (name.size() > rule.max_bytes)
    return refuse(rule, name,
                  "has " + std::to_string(name.size()) + " bytes, the limit is "
                    + std::to_string(rule.max_bytes));
  return std::nullopt;
}

} // namespace

std::string_view to_string(name_kind value) noexcept {
  switch (value) {
  case name_kind::stream: return "stream";
  case name_kind::group: return "group";
  case name_kind::schedule: return "schedule";
  }
  return "stream";
}

std::optional<error> check_name(name_kind kind, std::string_view name) {
  const name_rule rule{std::string(to_string(kind)) + " name", max_name_bytes,
                       in_name, "a-z, 0-9, '.', '_' and '-'"};
  if (auto wrong = check(rule, name))
    return wrong;
  if (name.starts_with(reserved_prefix))
    return error{code::reserved_name, rule.what + " " + quoted(name)
                                        + " starts with the reserved prefix "
                                        + std::string(reserved_prefix)};
  return std::nullopt;
}

std::optional<error> check_schema_name(std::string_view name) {
  const name_rule rule{"schema name", max_schema_bytes, in_schema,
                       "a-z, 0-9 and '_', not starting with a digit"};
  if (auto wrong = check(rule, name))
    return wrong;
  if (is_digit(name.front()))
    return refuse(rule, name, "starts with a digit");
  if (name.starts_with("pg_"))
    return refuse(rule, name,
                  "starts with pg_, which PostgreSQL keeps for itself");
  return std::nullopt;
}

void validate_name(name_kind kind, std::string_view name) {
  if (auto wrong = check_name(kind, name))
    throw *wrong;
}

void validate_schema_name(std::string_view name) {
  if (auto wrong = check_schema_name(name))
    throw *wrong;
}

} // namespace sqlstreams
