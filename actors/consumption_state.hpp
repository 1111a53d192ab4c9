#pragma once
// What a `consumption`, its node and the watcher of its session share.

#include "actors/messages.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

namespace sqlstreams {

/// A session as seen from outside of actors. Thread-safe.
class consumption_state {
public:
  /// @param budget within which the session ends when asked to
  consumption_state(caf::actor_system& system, std::chrono::nanoseconds budget);
  ~consumption_state();
  consumption_state(const consumption_state&) = delete;
  consumption_state& operator=(const consumption_state&) = delete;

  /// Names the session; once, before anything else is called.
  void began(caf::actor session);

  void stop() noexcept;
  void kill() noexcept;

  session_totals wait();

  /// @returns false if the session had not ended at that time
  bool wait_until(std::chrono::steady_clock::time_point time) noexcept;

  [[nodiscard]] bool ended() const noexcept;
  [[nodiscard]] session_totals totals() const;
  [[nodiscard]] std::chrono::nanoseconds budget() const noexcept {
    return budget_;
  }

  /// Called by the watcher, once.
  void end(session_ended result);

private:
  caf::actor_system& system_;
  std::chrono::nanoseconds budget_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  caf::actor session_;
  std::optional<session_ended> result_;
};

/// Starts the actor that owns a session on behalf of `state`; send it the
/// session's handle when there is one.
caf::actor spawn_session_watcher(caf::actor_system& system,
                                 std::shared_ptr<consumption_state> state);

} // namespace sqlstreams
