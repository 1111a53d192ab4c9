#pragma once
// A parsed TOML text as plain values with positions, so that reading options
// needs no parser library.

#include "config/toml_reader.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// From 1; a line of 0 means "nowhere in the file".
struct text_position {
  int line = 0;
  int column = 0;
};

struct toml_entry;

/// One value.
struct toml_node {
  enum class kind : std::uint8_t {
    table,
    array,
    text,
    integer,
    real,
    boolean,
    instant, ///< date and time with an offset
    other,   ///< date or time without one
  };

  kind type = kind::table;
  text_position at{};
  std::string text{};
  std::int64_t integer = 0;
  double real = 0;
  bool boolean = false;
  std::chrono::system_clock::time_point instant{};
  std::vector<toml_node> elements{}; ///< of an array
  std::vector<toml_entry> entries{}; ///< of a table

  /// Returns the entry with this key; null if there is none.
  [[nodiscard]] const toml_entry* find(std::string_view key) const noexcept;
};

struct toml_entry {
  std::string key;
  text_position key_at;
  toml_node value;
};

/// Returns the value as one would speak of it: `the text "30"`, `the number 3`.
std::string describe(const toml_node& node);

/// Returns a key as it stands in a path: quoted unless it is a bare word.
std::string quote_key(std::string_view key);

/// Returns a text as TOML.
std::string quote_text(std::string_view text);

} // namespace sqlstreams
