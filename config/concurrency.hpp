#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace sqlstreams {

/// How the messages of one key may run. The last two need a message key.
enum class concurrency : std::uint8_t {
  parallel,  ///< any number at once
  exclusive, ///< one at a time; a failed one does not hold the others back
  ordered,   ///< one at a time in id order; nothing passes a failed one
};

/// Returns "parallel", "exclusive" or "ordered".
std::string_view to_string(concurrency value) noexcept;

/// Reads what `to_string` writes; empty for anything else.
std::optional<concurrency> parse_concurrency(std::string_view text) noexcept;

} // namespace sqlstreams
