#pragma once

#include <functional>

#include <sys/types.h>

namespace sqlstreams {

/// The commands of this process that run, each by the process group it leads.
/// Whatever ends the process in order ends them first: nobody would be left to
/// tell a command that ignores SIGTERM. Thread-safe.
namespace running_commands {

/// Starts a command and counts it among those that run. The first call sees to
/// it that `kill_all` is called when the process exits.
/// @param spawn starts the leader of a new process group: returns 0 and its
///   number, or the error
/// @returns what `spawn` did; ECANCELED, without a call, after `kill_all`
int start(pid_t& group, const std::function<int(pid_t&)>& spawn);

/// A command has ended. To be called before its leader is waited for: its
/// number may be somebody else's afterwards.
void ended(pid_t group);

/// Kills the commands that run, and keeps others from starting. For the end of
/// the process: exit() calls it, who uses _exit() must.
void kill_all() noexcept;

} // namespace running_commands

} // namespace sqlstreams
