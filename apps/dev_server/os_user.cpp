#include "apps/dev_server/os_user.hpp"

#include "config/error.hpp"

#include <array>

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

os_user with_groups(const passwd& entry) {
  os_user user{entry.pw_name, entry.pw_uid, entry.pw_gid, {}};
  int count = 0;
  getgrouplist(entry.pw_name, entry.pw_gid, nullptr, &count);
  user.groups.resize(static_cast<std::size_t>(count));
  getgrouplist(entry.pw_name, entry.pw_gid, user.groups.data(), &count);
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

uid_t owner_of_nearest_existing(fs::path folder) {
  struct stat info {};
  while (stat(folder.c_str(), &info) != 0 && folder != folder.parent_path())
    folder = folder.parent_path();
  return info.st_uid;
}

} // namespace

std::optional<os_user> find_user(uid_t uid) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> text{};
  getpwuid_r(uid, &entry, text.data(), text.size(), &found);
  return found ? std::optional{with_groups(entry)} : std::nullopt;
}

std::optional<os_user> find_user(const std::string& name) {
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 16384> text{};
  getpwnam_r(name.c_str(), &entry, text.data(), text.size(), &found);
  return found ? std::optional{with_groups(entry)} : std::nullopt;
}

std::optional<os_user> server_user(const fs::path& folder) {
  if (geteuid() != 0)
    return std::nullopt;
  // In a user's own tree the server runs as that user: it may enter the folder,
  // and the user can go on without root later.
  if (const auto owner = owner_of_nearest_existing(folder); owner != 0)
    if (auto user = find_user(owner))
      return user;
  for (const auto* name : {"postgres", "nobody"})
    if (auto user = find_user(name))
      return user;
  throw error{code::server_not_started,
              "PostgreSQL does not run as root, and there is neither a user "
              "postgres nor nobody to run it as",
              "run the command as another user"};
}

} // namespace sqlstreams
