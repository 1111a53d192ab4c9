#pragma once

#include "config/error.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace sqlstreams {

/// Standard output could not be written: a code of programs alone, which is why
/// it is named here.
inline constexpr code output_failed{1014};

/// Writes a text to standard output, whole and at once, past all buffers. To
/// be called by one thread at a time. A reader that went away is reported, not
/// a signal.
/// @returns false if it could not be written: what it stands for must then not
///   count as shown
[[nodiscard]] bool write_out(std::string_view text);

/// Returns why `write_out` failed first; empty if it never did, or if only the
/// reader went away, which is nobody's mistake (`| head`). Thread-safe.
[[nodiscard]] std::optional<error> output_failure();

/// Returns the width of the terminal behind standard output in columns; 0 if
/// it is none.
std::size_t output_width();

/// Returns whether standard error is a terminal, so that progress may be shown.
bool shows_progress();

} // namespace sqlstreams
