#pragma once
// What names may look like, so that every accepted one is usable everywhere.

#include "config/error.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sqlstreams {

/// What a name is for.
enum class name_kind : std::uint8_t { stream, group, schedule };

/// Longest stream, group or schedule name, in bytes.
inline constexpr std::size_t max_name_bytes = 200;

/// Longest schema name, in bytes: leaves room in PostgreSQL's 63 for the
/// identifiers that are derived from it.
inline constexpr std::size_t max_schema_bytes = 48;

/// The prefix of the system's own streams and groups.
inline constexpr std::string_view reserved_prefix = "__system.";

/// Returns "stream", "group" or "schedule".
std::string_view to_string(name_kind value) noexcept;

/// Checks `^[a-z0-9._-]{1,200}$` and the reserved prefix.
/// @returns what is wrong (code::invalid_name or code::reserved_name): limit in
///   bytes, allowed characters, first offending position; empty if nothing
[[nodiscard]] std::optional<error> check_name(name_kind kind,
                                              std::string_view name);

/// Checks `^[a-z_][a-z0-9_]*$` and the length, likewise.
[[nodiscard]] std::optional<error> check_schema_name(std::string_view name);

/// @throws error what `check_name` finds
void validate_name(name_kind kind, std::string_view name);

/// @throws error what `check_schema_name` finds
void validate_schema_name(std::string_view name);

} // namespace sqlstreams
