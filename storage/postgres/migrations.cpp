#include "storage/postgres/migrations.hpp"

#include "storage/schema/embedded_sql.hpp"

namespace sqlstreams {

std::optional<error> check_schema_version(int found, int oldest_compatible,
                                          const std::string& whose) {
  const auto ours = std::to_string(schema_version_of_build);
  if (found < schema_version_of_build)
    return error{code::schema_older_than_build,
                 whose + " has version " + std::to_string(found)
                   + ", this build needs " + ours};
  if (oldest_compatible > schema_version_of_build)
    return error{code::schema_newer_than_build,
                 whose + " has version " + std::to_string(found)
                   + ", which needs a build for version "
                   + std::to_string(oldest_compatible) + " or later; this is "
                   + ours};
  return std::nullopt;
}

std::string migration_sql(std::string_view folder) {
  std::string all;
  for (const auto name : embedded_sql_names()) {
    if (name.starts_with(std::string{folder} + '/'))
      all += embedded_sql(name);
  }
  return all;
}

} // namespace sqlstreams
