#pragma once
// The types of value that options have. Private to config/.

#include "config/concurrency.hpp"
#include "config/configuration.hpp"
#include "config/option_table.hpp"

#include <chrono>
#include <cstdint>

namespace sqlstreams {

/// A whole number. A value below `low` counts as unset when printing.
value_kind<int> count(std::int64_t low, std::int64_t high);
value_kind<std::int64_t> amount(std::int64_t low, std::int64_t high);

/// A duration; 0 means unset, the default applies.
value_kind<std::chrono::nanoseconds> span();

/// A duration of which 0 says something by itself.
value_kind<std::chrono::nanoseconds> span_or_zero(std::string_view zero_means);

/// A duration that may be negative.
value_kind<std::chrono::nanoseconds>
span_or_negative(std::string_view negative_means);

value_kind<bool> flag();
value_kind<std::vector<std::string>> patterns();
value_kind<std::optional<concurrency>> policy();
value_kind<delivery_log_mode> history_mode();
value_kind<session_end_action> session_end();
value_kind<cursor_position> start_position();
value_kind<std::string> node_name();
value_kind<std::string> schema_name();

/// A database address, perhaps by reference (`env:NAME`, `file:PATH`); printed
/// with its secrets masked.
value_kind<std::string> address();

value_kind<std::optional<handler_declaration>> handler();

/// The kinds of handler, for suggestions.
std::vector<known_key> handler_keys();

} // namespace sqlstreams
