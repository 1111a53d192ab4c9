#pragma once
// The words for what became of a delivery.

#include <cstdint>
#include <optional>
#include <string_view>

namespace sqlstreams {

/// How one run of a message ended.
enum class outcome_kind : std::uint8_t {
  done,       ///< handled
  retry,      ///< failed; may succeed later
  dead,       ///< can never succeed
  delay,      ///< the handler asks for a later run
  deferred,   ///< not run: its key is busy or a predecessor is unresolved
  superseded, ///< not run: a newer message of its key makes it pointless
};

/// Where a message in the exception queue stands.
enum class exception_status : std::uint8_t { ready, inflight, deferred, dead };

/// One line of a message's history.
enum class history_kind : std::uint8_t {
  success,
  failure,
  delayed,
  deferred,
  superseded,
  expired, ///< its holder vanished; it runs again
  killed,  ///< its holder vanished and its budget is used up
};

/// Each returns the enumerator's name.
std::string_view to_string(outcome_kind value) noexcept;
std::string_view to_string(exception_status value) noexcept;
std::string_view to_string(history_kind value) noexcept;

/// Each reads what `to_string` writes; empty for anything else.
std::optional<outcome_kind> parse_outcome_kind(std::string_view text) noexcept;
std::optional<exception_status>
parse_exception_status(std::string_view text) noexcept;
std::optional<history_kind> parse_history_kind(std::string_view text) noexcept;

} // namespace sqlstreams
