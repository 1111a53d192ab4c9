#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// Returns how many letters must be inserted, removed, replaced or swapped with
/// their neighbour to turn one word into the other (restricted
/// Damerau-Levenshtein distance, in bytes).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// Returns the candidate that a mistyped word most likely stands for, if any is
/// near: case and the choice of '-' or '_' do not count.
std::optional<std::string>
nearest_word(std::string_view word, const std::vector<std::string>& candidates);

} // namespace sqlstreams
