#pragma once

#include "actors/session_totals.hpp"

#include <memory>
#include <stop_token>

namespace sqlstreams {

class consumption_state;

/// A consumer session that runs in the background. Destroying it stops it and
/// waits. Movable; a moved-from one does nothing. Its functions may be called
/// from any thread, but not from a handler of the session itself.
class consumption {
public:
  consumption() = default;
  explicit consumption(std::shared_ptr<consumption_state> state);
  consumption(consumption&&) noexcept = default;
  consumption& operator=(consumption&& other) noexcept;
  ~consumption();

  /// Begins the shutdown: no new claims, running handlers finish within
  /// `shutdown_timeout`, outcomes are recorded, the rest is given back at once.
  /// Returns at once; repeating it does nothing.
  void stop() noexcept;

  /// Waits until the session has ended.
  /// @returns its totals
  /// @throws error what ended it, if it was not asked to
  session_totals wait();

  /// Waits likewise, and stops the session when `token` is asked to stop.
  session_totals wait(std::stop_token token);

  /// Returns whether the session has ended.
  [[nodiscard]] bool ended() const noexcept;

  /// Returns the counts so far.
  [[nodiscard]] session_totals totals() const;

private:
  std::shared_ptr<consumption_state> state_;
};

} // namespace sqlstreams
