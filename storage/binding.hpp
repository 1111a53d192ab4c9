#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// Returns whether a routing key is selected by a pattern: `*` stands for any
/// run of characters, dots and nothing included; everything else for itself.
/// Anchored at both ends.
bool matches_pattern(std::string_view pattern, std::string_view routing_key);

/// Returns whether a group with these bindings reads a message: without any it
/// reads the whole stream; with some, an absent (empty) routing key matches
/// none of them.
bool matches_bindings(const std::vector<std::string>& bindings,
                      std::string_view routing_key);

} // namespace sqlstreams
