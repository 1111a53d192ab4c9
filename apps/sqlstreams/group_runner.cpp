#include "apps/sqlstreams/group_runner.hpp"

#include "actors/log.hpp"
#include "config/duration.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace sqlstreams {

group_runner::group_runner(const client& db, arguments what,
                           std::stop_token stop,
                           std::function<void()> on_failure)
  : what_{std::move(what)}, stop_{std::move(stop)},
    on_failure_{std::move(on_failure)}, thread_{[this, &db] {
      run(db);
    }} {}

std::optional<error> group_runner::wait() {
  if (thread_.joinable())
    thread_.join();
  return failure_;
}

std::optional<error> group_runner::run_session(const client& db) {
  try {
    db.stream(what_.stream)
      .consumer(what_.group)
      .open()
      .consume(what_.handler, what_.run, stop_);
    return std::nullopt;
  } catch (const error& e) {
    return e;
  } catch (const std::exception& e) {
    return error(code::actor_failed, e.what());
  }
}

void group_runner::run(const client& db) {
  using std::chrono::steady_clock;
  while (!stop_.stop_requested()) {
    const auto begin = steady_clock::now();
    const auto ended = run_session(db);
    if (!ended)
      return; // asked to stop
    const auto delay =
      what_.restarts.ended(ended->recover(), steady_clock::now() - begin);
    if (!delay || stop_.stop_requested()) {
      failure_ = error(ended->number(), ended->recover(),
                       "group '" + what_.group + "' of stream '" + what_.stream
                         + "' ended: " + ended->detail(),
                       ended->fix());
      on_failure_();
      return;
    }
    log_event(ended->number(), log_level::error,
              "a session ended by an error and is started again",
              {field("stream", what_.stream), field("group", what_.group),
               field("pause", format_duration(*delay)),
               field("detail", ended->detail())});
    pause(*delay);
  }
}

void group_runner::pause(std::chrono::nanoseconds duration) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, stop_, duration, [] { return false; });
}

} // namespace sqlstreams
