#pragma once
// Durations as people write them: "1h30m", "250ms", "30d", "0".

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// What a duration text may look like, for messages about one that does not.
inline constexpr std::string_view duration_form =
  "a duration such as \"250ms\", \"30s\", \"1h30m\" or \"30d\"";

/// Reads numbers with units d, h, m, s, ms, us, ns, one after the other
/// without blanks; a number may have a fraction ("1.5s"). "0" needs no unit.
/// @returns empty if the text is something else, is negative, is finer than a
///   nanosecond or does not fit 64 bits of nanoseconds (292 years)
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Writes the shortest exact text: `parse_duration` reads it back to the same
/// value unless it is negative (then it is written with a leading minus).
std::string format_duration(std::chrono::nanoseconds value);

} // namespace sqlstreams
