#include "config/option_table.hpp"

#include "config/configuration_options.hpp"
#include "config/nearest_word.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// A key and the section it lives in.
struct place {
  std::string key;
  std::string section;
};

void list_places(const std::vector<known_key>& keys, const std::string& path,
                 std::vector<place>& to) {
  for (const auto& key : keys) {
    // NAME and GROUP stand for names that the file chooses.
    if (key.name != "NAME" && key.name != "GROUP")
      to.push_back({key.name, path});
    list_places(key.inner, path.empty() ? key.name : path + "." + key.name, to);
  }
}

std::vector<place> all_places() {
  std::vector<place> places;
  list_places(all_known_keys(), {}, places);
  return places;
}

std::string list_names(const std::vector<known_key>& keys) {
  std::string text;
  for (const auto& key : keys)
    text.append(text.empty() ? "" : ", ").append(key.name);
  return text;
}

/// Splits at dots outside of quotes.
std::vector<std::string> split_path(std::string_view path) {
  std::vector<std::string> parts(1);
  bool in_quotes = false;
  for (char c : path) {
    if (c == '"')
      in_quotes = !in_quotes;
    if (c == '.' && !in_quotes)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

/// Puts the names of the stream and group at hand into the path of a section.
std::string with_names(const std::string& section, std::string_view here) {
  const auto current = split_path(here);
  auto wanted = split_path(section);
  std::string text;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const bool named = wanted[i] == "NAME" || wanted[i] == "GROUP";
    if (named && i < current.size() && current[0] == wanted[0])
      wanted[i] = current[i];
    text.append(i == 0 ? "" : ".").append(wanted[i]);
  }
  return text;
}

/// How many leading parts two paths share: of several sections with such a key
/// the nearest one was meant.
std::size_t shared_parts(const std::string& section, std::string_view here) {
  const auto a = split_path(with_names(section, here));
  const auto b = split_path(here);
  std::size_t count = 0;
  while (count < a.size() && count < b.size() && a[count] == b[count])
    ++count;
  return count;
}

std::optional<std::string> find_home(std::string_view key,
                                     std::string_view here) {
  std::optional<std::string> best;
  std::size_t most = 0;
  for (const auto& [name, section] : all_places()) {
    if (name != key)
      continue;
    const auto shared = shared_parts(section, here);
    if (!best || shared > most) {
      most = shared;
      best = (section.empty() ? "" : with_names(section, here) + ".") + name;
    }
  }
  return best;
}

std::vector<std::string> names_of(const std::vector<known_key>& keys) {
  std::vector<std::string> names;
  for (const auto& key : keys)
    names.push_back(key.name);
  return names;
}

/// `[streams.a.b]` was written for `[streams."a.b"]`.
std::optional<std::string> unquoted_name(const toml_entry& entry,
                                         const scope& at) {
  const auto parts = split_path(at.path);
  const bool is_name = entry.value.type == toml_node::kind::table
                       && (parts.size() == 2 || parts.size() == 4)
                       && parts[0] == "streams";
  if (!is_name)
    return std::nullopt;
  auto name = parts.back() + "." + entry.key;
  auto path = at.path.substr(0, at.path.size() - parts.back().size());
  return path + quote_text(name);
}

} // namespace

bool findings_log::mentions(std::string_view key_path) const {
  return std::any_of(found_.begin(), found_.end(), [&](const finding& one) {
    return one.key_path == key_path;
  });
}

void report_unknown_key(const toml_entry& entry, const scope& at,
                        const std::vector<known_key>& known) {
  const auto path = at.key_path(entry.key);
  const auto accepted = list_names(known);
  if (const auto home = find_home(entry.key, at.path)) {
    at.log.add(entry.key_at, path, "does not belong here", accepted, *home);
    return;
  }
  auto suggestion = nearest_word(entry.key, names_of(known));
  if (!suggestion)
    suggestion = unquoted_name(entry, at);
  if (!suggestion) {
    std::vector<std::string> everywhere;
    for (const auto& [name, section] : all_places())
      everywhere.push_back(name);
    if (const auto near = nearest_word(entry.key, everywhere))
      suggestion = find_home(*near, at.path);
  }
  at.log.add(entry.key_at, path, "is an unknown key", accepted,
             suggestion.value_or(""));
}

} // namespace sqlstreams
