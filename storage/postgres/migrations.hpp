#pragma once

#include "config/error.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// The version of the tables that this build works with, shared and per stream.
inline constexpr int schema_version_of_build = 1;

/// The lowest schema version a build must understand to work with what this
/// build's migrations leave.
inline constexpr int oldest_compatible_version = 1;

/// Returns whether this build can work with tables of a version.
/// @param found version of the tables
/// @param oldest_compatible what their last migration asks of a build
/// @param whose for the text: "schema sqlstreams"
/// @returns schema_older_than_build or schema_newer_than_build; empty if it can
std::optional<error> check_schema_version(int found, int oldest_compatible,
                                          const std::string& whose);

/// Returns the SQL of the embedded files of a folder ("system" or "stream"), in
/// the order of their names.
std::string migration_sql(std::string_view folder);

} // namespace sqlstreams
