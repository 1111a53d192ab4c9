#include "actors/consumption_state.hpp"

#include "actors/ask.hpp"
#include "actors/live_sessions.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <utility>

namespace sqlstreams {

consumption_state::consumption_state(caf::actor_system& system,
                                     std::chrono::nanoseconds budget)
  : system_{system}, budget_{budget} {
  live_sessions::opened();
}

consumption_state::~consumption_state() {
  // A session that never began has not been counted out by `end`.
  if (!result_)
    live_sessions::closed();
}

void consumption_state::began(caf::actor session) {
  const std::lock_guard lock{mutex_};
  session_ = std::move(session);
}

void consumption_state::stop() noexcept {
  const std::lock_guard lock{mutex_};
  if (session_)
    caf::anon_send(session_, stop_consuming{});
}

void consumption_state::kill() noexcept {
  const std::lock_guard lock{mutex_};
  if (session_)
    caf::anon_send_exit(session_, caf::exit_reason::kill);
}

session_totals consumption_state::wait() {
  std::unique_lock lock{mutex_};
  changed_.wait(lock, [this] { return result_.has_value(); });
  if (result_->code != 0)
    throw error{static_cast<code>(result_->code), result_->recover,
                result_->reason, result_->fix};
  return result_->totals;
}

bool consumption_state::wait_until(
  std::chrono::steady_clock::time_point time) noexcept {
  std::unique_lock lock{mutex_};
  return changed_.wait_until(lock, time,
                             [this] { return result_.has_value(); });
}

bool consumption_state::ended() const noexcept {
  const std::lock_guard lock{mutex_};
  return result_.has_value();
}

session_totals consumption_state::totals() const {
  caf::actor session;
  {
    const std::lock_guard lock{mutex_};
    if (result_)
      return result_->totals;
    session = session_;
  }
  return ask<session_totals>(system_, session, get_session_totals{},
                             std::chrono::seconds{5});
}

void consumption_state::end(session_ended result) {
  // First, because it does not return in a process that a second signal ends:
  // nobody who waits must get to leave main with another status.
  live_sessions::closed();
  caf::actor session; // declared first, so released outside of the lock
  const std::lock_guard lock{mutex_};
  result_ = std::move(result);
  session = std::exchange(session_, nullptr);
  changed_.notify_all();
}

namespace {

/// watcher -> itself: the session is down; whatever it said came before this.
struct session_went_down {
  std::string reason;
};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::session_went_down)

namespace sqlstreams {

namespace {

caf::behavior session_watcher(caf::event_based_actor* self,
                              std::shared_ptr<consumption_state> state) {
  self->set_down_handler([=](const caf::down_msg& down) {
    // Down messages overtake others, so the session's last word may be waiting.
    self->send(self, session_went_down{from_caf_error(down.reason).detail()});
  });
  return {
    // from the node
    [=](const caf::actor& session) { self->monitor(session); },
    // from the session
    [=](session_ended& result) {
      state->end(std::move(result));
      self->quit();
    },
    // from itself
    [=](session_went_down& down) {
      session_ended result;
      result.reason = "the session ended without a word: " + down.reason;
      result.code = static_cast<std::uint16_t>(code::actor_failed);
      state->end(std::move(result));
      self->quit();
    },
  };
}

} // namespace

caf::actor spawn_session_watcher(caf::actor_system& system,
                                 std::shared_ptr<consumption_state> state) {
  return system.spawn(session_watcher, std::move(state));
}

} // namespace sqlstreams
