#pragma once
// What PostgreSQL can store as text.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// Longest stored error text, in bytes.
inline constexpr std::size_t max_error_text_bytes = 8192;

/// Returns the position of the first byte that does not belong to valid UTF-8
/// (overlong forms, surrogates and values beyond U+10FFFF are not valid).
[[nodiscard]] std::optional<std::size_t>
find_invalid_utf8(std::string_view text) noexcept;

[[nodiscard]] bool is_valid_utf8(std::string_view text) noexcept;

[[nodiscard]] bool has_nul(std::string_view text) noexcept;

/// Returns the longest prefix of at most `limit` bytes that does not cut a
/// character in two.
/// @pre the text is valid UTF-8
[[nodiscard]] std::string_view cut_utf8(std::string_view text,
                                        std::size_t limit) noexcept;

/// Returns any bytes as a text that can be stored: valid UTF-8, no NUL, at most
/// 8 KiB. Bad bytes become U+FFFD; a changed text ends in a mark that says so.
[[nodiscard]] std::string storable_error_text(std::string_view text);

} // namespace sqlstreams
