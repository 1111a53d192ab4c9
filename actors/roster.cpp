#include "actors/roster.hpp"

#include <caf/abstract_actor.hpp>
#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <condition_variable>
#include <map>
#include <mutex>

namespace sqlstreams {

struct roster::members {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<caf::actor_id, caf::actor> alive;

  void remove(caf::actor_id id) {
    caf::actor gone; // declared first, so released outside of the lock
    const std::lock_guard lock{mutex};
    if (auto found = alive.find(id); found != alive.end()) {
      gone = std::move(found->second);
      alive.erase(found);
    }
    changed.notify_all();
  }
};

roster::roster() : members_{std::make_shared<members>()} {}

roster::~roster() = default;

void roster::add(const caf::actor& member) {
  const auto id = member.id();
  {
    const std::lock_guard lock{members_->mutex};
    members_->alive.emplace(id, member);
  }
  // Runs on the thread that ends the actor; at once if it has ended.
  caf::actor_cast<caf::abstract_actor*>(member)->attach_functor(
    [all = members_, id](const caf::error&) { all->remove(id); });
}

void roster::end_all() {
  const std::lock_guard lock{members_->mutex};
  for (const auto& item : members_->alive)
    caf::anon_send_exit(item.second, caf::exit_reason::user_shutdown);
}

bool roster::wait_until_empty(std::chrono::steady_clock::time_point time) {
  std::unique_lock lock{members_->mutex};
  return members_->changed.wait_until(
    lock, time, [this] { return members_->alive.empty(); });
}

} // namespace sqlstreams
