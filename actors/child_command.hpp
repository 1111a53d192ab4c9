#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// A program to run.
struct child_command {
  std::string path;                     ///< of the file
  std::vector<std::string> argv;        ///< argv[0] included
  std::vector<std::string> environment; ///< `NAME=value`, all of it
};

/// How a program ended.
struct command_end {
  /// What kept it from being started; the rest says nothing then.
  std::optional<std::string> not_started{};
  int status = 0;       ///< exit status, if no signal ended it
  int signal = 0;       ///< that ended it; 0: none
  bool stopped = false; ///< it was told to end by us
  std::string errors{}; ///< the end of its standard error
};

/// Runs a program and waits for it: `input` on its standard input, its standard
/// output is ours, its standard error is kept (the last `keep_errors` bytes).
/// It leads a process group of its own; when `stop` fires that group is told to
/// end, and is killed after `kill_after`, or when this process exits before.
/// Whoever does not read the input, or leaves children behind, does no harm.
/// Never throws but for want of memory. Thread-safe.
command_end run_command(const child_command& what, std::string_view input,
                        const std::stop_token& stop,
                        std::chrono::milliseconds kill_after,
                        std::size_t keep_errors);

/// Returns the file of a command: the name itself if it holds a slash, else the
/// first in the folders of `search_path` (separated by colons). Empty if there
/// is none that may be executed.
std::optional<std::string> find_command(const std::string& name,
                                        std::string_view search_path);

} // namespace sqlstreams
