#include "apps/dev_server/work_folder.hpp"

#include "apps/dev_server/private_server.hpp"

#include <cerrno>
#include <charconv>
#include <csignal>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sqlstreams {

namespace {

namespace fs = std::filesystem;

constexpr const char* keep_mark = "keep";

/// How folders of a kind begin: in the build tree by the kind alone.
fs::path start_of_path(std::string_view kind) {
  const auto program = fs::read_symlink("/proc/self/exe");
  const auto tree = program.parent_path().parent_path();
  const bool built = program.parent_path().filename() == "bin"
                     && ::access(tree.c_str(), W_OK) == 0
                     && fs::exists(tree / "CMakeCache.txt");
  return built
           ? tree / kind
           : fs::temp_directory_path() / ("sqlstreams-" + std::string{kind});
}

/// The process that made a folder of this name; 0: not one of ours.
pid_t maker_of(const fs::path& folder, const std::string& prefix) {
  const auto name = folder.filename().string();
  pid_t maker = 0;
  if (name.starts_with(prefix))
    std::from_chars(name.data() + prefix.size(), name.data() + name.size(),
                    maker);
  return maker;
}

/// What somebody else has put there is not to be trusted.
bool is_own_folder(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode)
         && about.st_uid == ::geteuid();
}

bool abandoned(const fs::path& folder, const std::string& prefix) {
  const auto maker = maker_of(folder, prefix);
  return maker > 0 && is_own_folder(folder) && !fs::exists(folder / keep_mark)
         && ::kill(maker, 0) != 0 && errno == ESRCH;
}

// Another run may be clearing away the same: that is no reason to fail.
void remove_run(const fs::path& folder) {
  try {
    private_server{{.folder = server_folder(folder)}}.destroy();
    fs::remove_all(folder);
  } catch (const std::exception& e) {
    std::cerr << folder.string()
              << " of an earlier run cannot be removed: " << e.what() << '\n';
  }
}

void remove_abandoned_runs(const fs::path& parent, const std::string& prefix) {
  for (const auto& entry : fs::directory_iterator{parent})
    if (abandoned(entry.path(), prefix))
      remove_run(entry.path());
}

} // namespace

work_folder::work_folder(std::string_view kind) {
  const auto start = start_of_path(kind).string() + '-';
  remove_abandoned_runs(fs::path{start}.parent_path(),
                        fs::path{start}.filename().string());
  auto pattern = start + std::to_string(::getpid()) + "-XXXXXX";
  if (!::mkdtemp(pattern.data()))
    throw fs::filesystem_error{"no folder can be made", pattern,
                               std::error_code{errno, std::generic_category()}};
  path_ = pattern;
  // A root process runs the server as somebody else, who must get there.
  fs::permissions(path_, fs::perms{0755});
}

work_folder::~work_folder() {
  if (kept_)
    return;
  std::error_code failed;
  fs::remove_all(path_, failed);
  if (failed)
    std::cerr << path_.string() << " is left behind: " << failed.message()
              << '\n';
}

void work_folder::keep() {
  kept_ = true;
  std::ofstream{path_ / keep_mark};
}

fs::path server_folder(const fs::path& work) { return work / "pg"; }

} // namespace sqlstreams
