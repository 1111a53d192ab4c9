#include "storage/postgres/binding_regex.hpp"

namespace sqlstreams {
namespace {

/// Whether a backslash makes the character stand for itself. Before letters and
/// digits it would do the opposite.
bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@')
         || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

} // namespace

std::string binding_regex(std::string_view pattern) {
  std::string out = "^";
  for (char c : pattern) {
    if (c == '*') {
      out += ".*";
      continue;
    }
    if (is_punctuation(c) && c != '_')
      out += '\\';
    out += c;
  }
  return out + '$';
}

} // namespace sqlstreams
