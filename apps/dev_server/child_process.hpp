#pragma once

#include "apps/dev_server/os_user.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams {

/// How a child process ended and what it wrote.
struct child_result {
  int status = 0;     ///< exit status; 128 + n after signal n
  std::string output; ///< standard output and error together
};

/// Runs a program and waits for its end. It inherits nothing but the
/// environment, from which PG* variables and locales are removed: they would
/// lead PostgreSQL's tools to other servers or other languages.
/// @param arguments the program's absolute path, then its arguments
/// @param folder its working directory
/// @param user who to become; empty: stay
child_result run_child(const std::vector<std::string>& arguments,
                       const std::filesystem::path& folder,
                       const std::optional<os_user>& user);

/// Returns whether the user may enter a folder.
bool may_enter(const std::filesystem::path& folder,
               const std::optional<os_user>& user);

/// Returns whether a process works in a folder, as far as the user can see. (A
/// server's working directory is its data folder.)
bool works_in(pid_t pid, const std::filesystem::path& folder,
              const std::optional<os_user>& user);

} // namespace sqlstreams
