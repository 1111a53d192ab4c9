#include "apps/dev_server/server_binaries.hpp"

#include "apps/dev_server/child_process.hpp"
#include "config/error.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

bool is_program(const fs::path& path) {
  return access(path.c_str(), X_OK) == 0;
}

bool is_complete(const fs::path& folder) {
  return is_program(folder / "postgres") && is_program(folder / "pg_ctl")
         && is_program(folder / "initdb");
}

std::string first_line_of(const std::vector<std::string>& command) {
  const auto result = run_child(command, "/", std::nullopt);
  return result.status == 0 ? result.output.substr(0, result.output.find('\n'))
                            : std::string{};
}

/// From "postgres (PostgreSQL) 15.8 (Debian ...)"; 0 if it says anything else.
int version_of(const fs::path& folder) {
  const auto line = first_line_of({folder / "postgres", "--version"});
  const auto number = line.find_first_of("0123456789");
  return number == std::string::npos ? 0 : std::atoi(line.c_str() + number);
}

std::vector<fs::path> packaged() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator{"/usr/lib/postgresql", ignored})
    folders.push_back(entry.path() / "bin");
  return folders;
}

std::vector<fs::path> elsewhere() {
  std::vector<fs::path> folders;
  if (const auto config = find_in_path("pg_config"); !config.empty())
    folders.emplace_back(first_line_of({config, "--bindir"}));
  if (const auto server = find_in_path("postgres"); !server.empty())
    folders.push_back(fs::weakly_canonical(server).parent_path());
  return folders;
}

std::optional<server_binaries> newest(const std::vector<fs::path>& folders,
                                      std::optional<int> version) {
  std::optional<server_binaries> best;
  for (const auto& folder : folders) {
    if (!is_complete(folder))
      continue;
    const auto found = version_of(folder);
    if (version ? found == *version
                : found >= std::max(oldest_server_version,
                                    best ? best->version + 1 : 0))
      best = server_binaries{folder, found};
  }
  return best;
}

[[noreturn]] void throw_missing(const fs::path& only,
                                std::optional<int> version) {
  const auto wanted =
    version
      ? "PostgreSQL " + std::to_string(*version) + ", which made the data,"
      : "PostgreSQL " + std::to_string(oldest_server_version) + " or newer";
  const auto package =
    version ? "postgresql-" + std::to_string(*version) : "postgresql";
  throw error{
    code::server_binaries_missing,
    "no server programs (initdb, pg_ctl, postgres) of " + wanted + " in "
      + (only.empty() ? "/usr/lib/postgresql, pg_config or PATH"
                      : only.string()),
    "install the Debian package " + package + ": apt-get install " + package};
}

} // namespace

fs::path find_in_path(const char* program) {
  const char* path = std::getenv("PATH");
  std::istringstream folders{path ? path : "/usr/bin:/bin"};
  for (std::string folder; std::getline(folders, folder, ':');)
    if (auto candidate = fs::path{folder} / program;
        candidate.is_absolute() && is_program(candidate))
      return candidate;
  return {};
}

server_binaries find_server_binaries(const fs::path& only,
                                     std::optional<int> version) {
  auto found = only.empty() ? newest(packaged(), version)
                            : newest({fs::absolute(only)}, version);
  if (!found && only.empty())
    found = newest(elsewhere(), version);
  if (!found)
    throw_missing(only, version);
  return *found;
}

} // namespace sqlstreams
