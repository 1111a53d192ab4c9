#pragma once

#include <string_view>
#include <vector>

namespace sqlstreams {

/// Returns the text of an SQL file of storage/schema, which the build puts
/// into the library.
/// @param name path below storage/schema, such as "0001_baseline.sql"
/// @returns a view that stays valid for the life of the program
/// @throws std::out_of_range if there is no such file
[[nodiscard]] std::string_view embedded_sql(std::string_view name);

/// Returns the names of all embedded SQL files, ascending.
[[nodiscard]] std::vector<std::string_view> embedded_sql_names();

} // namespace sqlstreams
