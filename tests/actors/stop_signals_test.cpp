#include "actors/stop_signals.hpp"

#include "actors/live_sessions.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <functional>
#include <future>

#include <sys/wait.h>
#include <unistd.h>

using namespace sqlstreams;

namespace {

/// Runs a body in a process of its own.
/// @returns its exit status; -1 if a signal ended it
int status_of(const std::function<int()>& body) {
  const auto child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60); // whatever happens, it ends
    ::_exit(body());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void wait_for_stop(const std::stop_token& token) {
  std::promise<void> stopped;
  const std::stop_callback on_stop{token, [&] {
                                     stopped.set_value();
                                   }};
  stopped.get_future().wait();
}

} // namespace

SCENARIO("the first signal asks to stop, the second ends the process",
         "[signals]") {
  const auto signal = GENERATE(SIGTERM, SIGINT);

  WHEN("one comes") {
    const auto status = status_of([&] {
      const auto token = stop_on_signals();
      if (token.stop_requested())
        return 1;
      ::raise(signal);
      wait_for_stop(token);
      return 0;
    });
    THEN("the program ends as it likes") { CHECK(status == 0); }
  }

  WHEN("two come") {
    const auto status = status_of([&] {
      live_sessions::opened();
      const auto token = stop_on_signals();
      ::raise(signal);
      wait_for_stop(token);
      ::raise(signal);
      ::pause(); // a handler that does not end
      return 1;
    });
    THEN("its status is that of the signal") { CHECK(status == 128 + signal); }
  }

  WHEN("the last session ends after the second one") {
    const auto status = status_of([&] {
      live_sessions::opened();
      const auto token = stop_on_signals();
      ::raise(signal);
      wait_for_stop(token);
      ::raise(signal);
      // Returns only if the session was faster than the second signal.
      live_sessions::closed();
      ::pause();
      return 1;
    });
    THEN("the status is still that of the signal") {
      CHECK(status == 128 + signal);
    }
  }
}
