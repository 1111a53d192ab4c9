#pragma once
// From the command line to the installation a command works on.

#include "actors/client.hpp"
#include "apps/sqlstreams/context.hpp"
#include "config/configuration.hpp"

#include <string>

namespace sqlstreams {

/// Whether a command may make the installation's tables.
enum class missing_tables {
  make,
  leave, ///< what needs them says that they are missing
};

/// Reads a configuration file; secrets come from this process's environment.
/// @throws error file_unreadable
/// @throws configuration_error
configuration load_file(const std::string& path);

/// Connects to the database of the command line, else of its `--config` file,
/// else of SQLSTREAMS_DATABASE_URL.
/// @throws error invalid_database_url if there is none, database_unreachable,
///   authentication_failed, ...
client connect(const context& ctx, missing_tables tables);

/// The same where the command works on a file.
client connect(const context& ctx, const configuration& file,
               missing_tables tables);

/// Returns a registered stream.
/// @throws error invalid_name, reserved_name, stream_not_found naming the
///   schema and what to do
stream_info require_stream(const client& db, const std::string& name);

/// Returns a registered group.
/// @throws error as require_stream; group_not_found likewise
group_info require_group(const client& db, const std::string& stream,
                         const std::string& name);

} // namespace sqlstreams
