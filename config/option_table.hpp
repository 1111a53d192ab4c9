#pragma once
// Sections of a configuration file as tables of options: what each key is
// called, what it accepts, how it is read into a field and printed from it.
// Reading, messages and printing all come from the one table.

#include "config/toml_tree.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sqlstreams {

/// A key and, for sections, the keys inside it.
struct known_key {
  std::string name;
  std::vector<known_key> inner{};
};

/// Collects the mistakes of one file.
class findings_log {
public:
  findings_log(std::string file, const environment& env)
    : file_{std::move(file)}, env_{env} {}

  void add(text_position at, std::string key_path, std::string problem,
           std::string accepted, std::string suggestion = {}) {
    found_.push_back({file_, at.line, at.column, std::move(key_path),
                      std::move(problem), std::move(accepted),
                      std::move(suggestion)});
  }

  /// Returns whether there is a finding about this very key.
  [[nodiscard]] bool mentions(std::string_view key_path) const;

  [[nodiscard]] const environment& env() const noexcept { return env_; }
  [[nodiscard]] std::vector<finding>& all() noexcept { return found_; }

private:
  std::string file_;
  const environment& env_;
  std::vector<finding> found_;
};

/// The section that is being read.
struct scope {
  findings_log& log;
  std::string path; ///< empty for the whole file

  [[nodiscard]] std::string key_path(std::string_view key) const {
    return (path.empty() ? "" : path + ".") + quote_key(key);
  }
  [[nodiscard]] scope inside(std::string_view key) const {
    return {log, key_path(key)};
  }
};

/// What a wrong value is told.
struct wrong_value {
  std::string problem;
  std::string suggestion{};
};

/// A type of value: how to read and print it, and what to say otherwise.
template <class Value>
struct value_kind {
  std::string accepted;
  std::function<std::optional<wrong_value>(const toml_node&, Value&,
                                           const environment&)>
    read;
  /// Empty for a value that is unset.
  std::function<std::optional<std::string>(const Value&)> print;
};

/// One key of a section that fills a `T`.
template <class T>
struct option {
  std::string name;
  std::function<void(const toml_entry&, T&, const scope&)> read;
  std::function<std::optional<std::string>(const T&)> print;
  std::vector<known_key> inner{};
  bool listed = true; ///< whether to name it among what is accepted
};

template <class T>
using option_table = std::vector<option<T>>;

/// An option that is a field.
template <class T, class Value>
option<T> field(std::string name, Value T::*member, value_kind<Value> kind) {
  auto print = [member, print = kind.print](const T& from) {
    return print(from.*member);
  };
  auto read = [member, kind = std::move(kind)](const toml_entry& entry, T& to,
                                               const scope& at) {
    auto wrong = kind.read(entry.value, to.*member, at.log.env());
    if (wrong)
      at.log.add(entry.value.at, at.key_path(entry.key), wrong->problem,
                 kind.accepted, wrong->suggestion);
  };
  return {std::move(name), std::move(read), std::move(print)};
}

template <class T>
std::vector<known_key> known_keys(const option_table<T>& options) {
  std::vector<known_key> keys;
  for (const auto& one : options)
    if (one.listed)
      keys.push_back({one.name, one.inner});
  return keys;
}

/// Reports a key that the section does not have: where it belongs, or what it
/// may have been meant to be.
void report_unknown_key(const toml_entry& entry, const scope& at,
                        const std::vector<known_key>& known);

/// Reads a table's entries by the table of options.
template <class T>
void read_section(const toml_entry& section, T& to, const scope& at,
                  const option_table<T>& options) {
  if (section.value.type != toml_node::kind::table) {
    at.log.add(section.value.at, at.path, "is " + describe(section.value),
               "a table of options");
    return;
  }
  for (const auto& entry : section.value.entries) {
    const option<T>* match = nullptr;
    for (const auto& one : options)
      if (one.name == entry.key)
        match = &one;
    if (match)
      match->read(entry, to, at);
    else
      report_unknown_key(entry, at, known_keys(options));
  }
}

/// Prints a section as an inline table; empty if nothing in it is set.
template <class T>
std::optional<std::string> print_inline(const T& from,
                                        const option_table<T>& options) {
  std::string text;
  for (const auto& one : options)
    if (const auto value = one.print(from))
      text.append(text.empty() ? "" : ", ").append(one.name + " = " + *value);
  if (text.empty())
    return std::nullopt;
  return "{ " + text + " }";
}

/// An option that is a section of its own.
template <class T, class Inner>
option<T> section(std::string name, Inner T::*member,
                  const option_table<Inner>& options) {
  auto read = [member, options](const toml_entry& entry, T& to,
                                const scope& at) {
    read_section(entry, to.*member, at.inside(entry.key), options);
  };
  auto print = [member, options](const T& from) {
    return print_inline(from.*member, options);
  };
  return {std::move(name), std::move(read), std::move(print),
          known_keys(options)};
}

/// As above, for a section that may be absent.
template <class T, class Inner>
option<T> section(std::string name, std::optional<Inner> T::*member,
                  const option_table<Inner>& options) {
  auto read = [member, options](const toml_entry& entry, T& to,
                                const scope& at) {
    read_section(entry, (to.*member).emplace(), at.inside(entry.key), options);
  };
  auto print = [member, options](const T& from) -> std::optional<std::string> {
    if (!(from.*member))
      return std::nullopt;
    return print_inline(*(from.*member), options);
  };
  return {std::move(name), std::move(read), std::move(print),
          known_keys(options)};
}

/// Adds the options of a member to those of the whole, on the same level.
template <class T, class Inner>
void add_flat(option_table<T>& to, Inner T::*member,
              const option_table<Inner>& options) {
  for (const auto& one : options)
    to.push_back(
      {one.name,
       [member, one](const toml_entry& entry, T& into, const scope& at) {
         one.read(entry, into.*member, at);
       },
       [member, one](const T& from) { return one.print(from.*member); },
       one.inner, one.listed});
}

} // namespace sqlstreams
