#include "config/text_checks.hpp"

#include <cstdint>
#include <cstring>

namespace sqlstreams {

namespace {

std::uint8_t byte_at(std::string_view text, std::size_t position) noexcept {
  return static_cast<std::uint8_t>(text[position]);
}

bool is_continuation(std::uint8_t byte) noexcept {
  return (byte & 0xC0) == 0x80;
}

/// The lead byte decides how long a character is and what its second byte may
/// be; that excludes overlong forms, surrogates and too large values at once.
struct lead {
  std::size_t size; ///< 0: no character starts so
  std::uint8_t second_low;
  std::uint8_t second_high;
};

lead classify(std::uint8_t byte) noexcept {
  if (byte < 0x80)
    return {1, 0, 0};
  if (byte >= 0xC2 && byte <= 0xDF)
    return {2, 0x80, 0xBF};
  if (byte == 0xE0)
    return {3, 0xA0, 0xBF};
  if (byte == 0xED)
    return {3, 0x80, 0x9F};
  if (byte >= 0xE1 && byte <= 0xEF)
    return {3, 0x80, 0xBF};
  if (byte == 0xF0)
    return {4, 0x90, 0xBF};
  if (byte >= 0xF1 && byte <= 0xF3)
    return {4, 0x80, 0xBF};
  if (byte == 0xF4)
    return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

/// Returns the size of the valid character at a position; 0 if there is none.
std::size_t character_size(std::string_view text, std::size_t at) noexcept {
  const auto [size, low, high] = classify(byte_at(text, at));
  if (size <= 1)
    return size;
  if (at + size > text.size())
    return 0;
  const auto second = byte_at(text, at + 1);
  if (second < low || second > high)
    return 0;
  for (std::size_t i = 2; i < size; ++i)
    if (!is_continuation(byte_at(text, at + i)))
      return 0;
  return size;
}

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

constexpr std::size_t ascii_block = sizeof(std::uint64_t);

/// Whether the next eight bytes exist and are ASCII.
bool is_ascii_block(std::string_view text, std::size_t at) noexcept {
  if (text.size() - at < ascii_block)
    return false;
  std::uint64_t block;
  std::memcpy(&block, text.data() + at, ascii_block);
  return (block & 0x8080808080808080u) == 0;
}

} // namespace

std::optional<std::size_t> find_invalid_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    // Every produced byte comes through here, and most of them are ASCII.
    if (is_ascii_block(text, at)) {
      at += ascii_block;
      continue;
    }
    const auto size = character_size(text, at);
    if (size == 0)
      return at;
    at += size;
  }
  return std::nullopt;
}

bool is_valid_utf8(std::string_view text) noexcept {
  return !find_invalid_utf8(text);
}

bool has_nul(std::string_view text) noexcept {
  return text.find('\0') != std::string_view::npos;
}

std::string_view cut_utf8(std::string_view text, std::size_t limit) noexcept {
  if (text.size() <= limit)
    return text;
  while (limit > 0 && is_continuation(byte_at(text, limit)))
    --limit;
  return text.substr(0, limit);
}

std::string storable_error_text(std::string_view text) {
  constexpr std::string_view cleaned_mark = " [unprintable bytes replaced]";
  constexpr std::string_view cut_mark = " [cut]";
  constexpr auto room =
    max_error_text_bytes - cleaned_mark.size() - cut_mark.size();
  std::string result;
  bool cleaned = false;
  // No more is looked at than can be stored: the text may be huge.
  std::size_t at = 0;
  while (at < text.size() && result.size() <= max_error_text_bytes) {
    const auto size = text[at] == '\0' ? 0 : character_size(text, at);
    cleaned = cleaned || size == 0;
    result += size == 0 ? replacement : text.substr(at, size);
    at += size == 0 ? 1 : size;
  }
  const bool too_long = result.size() > (cleaned ? room : max_error_text_bytes);
  if (too_long)
    result = cut_utf8(result, room);
  if (cleaned)
    result += cleaned_mark;
  if (too_long)
    result += cut_mark;
  return result;
}

} // namespace sqlstreams
