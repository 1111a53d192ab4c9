#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sqlstreams {

/// A user of the operating system, with what is needed to become one.
struct os_user {
  std::string name;
  uid_t uid = 0;
  gid_t gid = 0;
  std::vector<gid_t> groups;
};

/// Looks up a user; empty if there is none.
std::optional<os_user> find_user(uid_t uid);
std::optional<os_user> find_user(const std::string& name);

/// Returns the user a private server in `folder` runs as, empty for the calling
/// process's own (see `private_server`).
/// @throws error server_not_started if root finds nobody to become
std::optional<os_user> server_user(const std::filesystem::path& folder);

} // namespace sqlstreams
