#pragma once

#include <filesystem>
#include <optional>

namespace sqlstreams {

/// Installed server programs: initdb, pg_ctl and postgres in one folder.
struct server_binaries {
  std::filesystem::path folder;
  int version = 0; ///< major
};

/// The oldest PostgreSQL that SQLStreams works with.
inline constexpr int oldest_server_version = 15;

/// Finds server programs: the newest in /usr/lib/postgresql, else those that
/// pg_config names, else those in PATH.
/// @param only look in this folder alone; empty: search
/// @param version that a folder of data was made by: no other can read it
/// @throws error server_binaries_missing, naming the package to install
server_binaries find_server_binaries(const std::filesystem::path& only,
                                     std::optional<int> version);

/// Finds a program in PATH; empty if it is not there.
std::filesystem::path find_in_path(const char* program);

} // namespace sqlstreams
