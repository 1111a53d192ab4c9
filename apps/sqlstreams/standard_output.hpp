#pragma once

#include <cstddef>
#include <string_view>

namespace sqlstreams {

/// Writes a text to standard output, whole and at once, past all buffers. To
/// be called by one thread at a time. A reader that went away is reported, not
/// a signal.
/// @returns false if it could not be written: what it stands for must then not
///   count as shown
[[nodiscard]] bool write_out(std::string_view text);

/// Returns the width of the terminal behind standard output in columns; 0 if
/// it is none.
std::size_t output_width();

/// Returns whether standard error is a terminal, so that progress may be shown.
bool shows_progress();

} // namespace sqlstreams
