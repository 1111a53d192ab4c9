#include "actors/live_sessions.hpp"

#include <condition_variable>
#include <mutex>

namespace sqlstreams::live_sessions {

namespace {

struct counter {
  std::mutex mutex;
  std::condition_variable changed;
  int open = 0;
  bool process_ends = false;
};

/// Never destroyed: the signal thread may use it until the very end.
counter& sessions() {
  static auto* the_counter = new counter;
  return *the_counter;
}

} // namespace

void opened() {
  auto& all = sessions();
  const std::lock_guard lock{all.mutex};
  ++all.open;
}

void closed() {
  auto& all = sessions();
  std::unique_lock lock{all.mutex};
  --all.open;
  all.changed.notify_all();
  all.changed.wait(lock, [&] { return !all.process_ends; });
}

void wait_for_last(std::chrono::nanoseconds patience) {
  auto& all = sessions();
  std::unique_lock lock{all.mutex};
  all.process_ends = true;
  all.changed.wait_for(lock, patience, [&] { return all.open == 0; });
}

} // namespace sqlstreams::live_sessions
