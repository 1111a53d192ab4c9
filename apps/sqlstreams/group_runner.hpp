#pragma once

#include "actors/client.hpp"
#include "apps/sqlstreams/session_restarts.hpp"
#include "config/error.hpp"

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

namespace sqlstreams {

/// Keeps one group of a node consumed: starts its session and, as
/// `session_restarts` decides, starts it again. The session does its work on
/// the client's actors; the thread here only waits for its end.
class group_runner {
public:
  struct arguments {
    std::string stream;
    std::string group;
    message_handler handler;
    consume_run run;
    session_restarts restarts;
  };

  /// Begins. The client outlives the runner.
  /// @param stop asks the session to end in order
  /// @param on_failure called, from another thread, if the session ended for
  ///   good by an error
  group_runner(const client& db, arguments what, std::stop_token stop,
               std::function<void()> on_failure);

  /// Waits for its end.
  /// @returns the error that ended it, if one did
  std::optional<error> wait();

private:
  void run(const client& db);
  /// @returns the error that ended the session, if one did
  std::optional<error> run_session(const client& db);
  void pause(std::chrono::nanoseconds duration);

  arguments what_;
  std::stop_token stop_;
  std::function<void()> on_failure_;
  std::optional<error> failure_; ///< read after the thread was joined
  std::jthread thread_;
};

} // namespace sqlstreams
