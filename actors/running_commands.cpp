#include "actors/running_commands.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <mutex>
#include <set>
#include <shared_mutex>

#include <unistd.h>

namespace sqlstreams::running_commands {

namespace {

struct registry {
  /// Held by those who start commands, together; alone by the one who kills
  /// them, so that none is between being started and being known.
  std::shared_mutex door;
  std::atomic<bool> closed{false};
  /// A forked child has these commands in its memory, but they are not its own.
  const pid_t process = ::getpid();
  std::mutex mutex; ///< of the groups
  std::set<pid_t> groups;
};

registry* make_registry() {
  std::atexit(kill_all);
  return new registry;
}

/// Never destroyed: threads that run commands may outlive main.
registry& commands() {
  static auto* all = make_registry();
  return *all;
}

} // namespace

int start(pid_t& group, const std::function<int(pid_t&)>& spawn) {
  auto& all = commands();
  const std::shared_lock pass{all.door};
  if (all.closed)
    return ECANCELED;
  if (const auto failure = spawn(group); failure != 0)
    return failure;
  const std::lock_guard lock{all.mutex};
  all.groups.insert(group);
  return 0;
}

void ended(pid_t group) {
  auto& all = commands();
  const std::lock_guard lock{all.mutex};
  all.groups.erase(group);
}

void kill_all() noexcept {
  auto& all = commands();
  if (::getpid() != all.process)
    return;
  all.closed = true; // before the wait, which others could prolong for ever
  const std::unique_lock alone{all.door};
  const std::lock_guard lock{all.mutex};
  for (const auto group : all.groups)
    ::kill(-group, SIGKILL);
}

} // namespace sqlstreams::running_commands
