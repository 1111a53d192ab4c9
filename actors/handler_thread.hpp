#pragma once

#include "actors/abandoned_runs.hpp"
#include "actors/delivery.hpp"
#include "actors/run_item.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace sqlstreams {

/// A chunk as far as its thread got with it.
struct chunk_report {
  std::uint64_t number = 0;
  std::vector<run_result> results;
  std::chrono::nanoseconds busy{}; ///< spent in the handler
};

/// A thread that runs a handler, message after message. Its owner watches over
/// the time: the thread says what it does since when. All functions are for the
/// owner's thread; none of them waits for the handler.
class handler_thread {
public:
  struct settings {
    std::shared_ptr<const message_handler> handler;
    std::string stream;
    std::string group;
    std::shared_ptr<abandoned_runs> abandoned;
    /// Called in the thread when a chunk is through; not after `abandon`, and
    /// never once this object is destroyed.
    std::function<void(chunk_report)> finished;
    /// Called in the thread when a handler ended whose run was given up.
    std::function<void()> freed;
  };

  explicit handler_thread(settings given);

  /// An idle thread is joined. One inside of a handler is left to end by
  /// itself: all it touches is its own.
  ~handler_thread();
  handler_thread(const handler_thread&) = delete;
  handler_thread& operator=(const handler_thread&) = delete;

  /// Starts a chunk.
  /// @pre none is under way
  void run(std::uint64_t number,
           std::shared_ptr<const std::vector<run_item>> items);

  struct running_message {
    std::size_t index = 0; ///< in the chunk
    monotonic_time since{};
  };

  /// Returns what runs now; empty between messages.
  [[nodiscard]] std::optional<running_message> running() const;

  /// Fires the stop token of a message if it still runs.
  /// @returns whether it does
  bool stop_message(std::size_t index);

  /// No further message of the chunk starts.
  void finish_early();

  /// No message of the range starts.
  void cancel_range(range_number range);

  /// What became of an abandoned chunk.
  struct given_up {
    chunk_report report; ///< the running message's result is left to the caller
    bool thread_kept = false; ///< the handler still occupies this thread
  };

  /// Gives a message up if it still runs: its late result is ignored, the rest
  /// of its chunk has not run. If the session may have one more abandoned run,
  /// the thread leaves this object and a new one takes its place.
  /// @returns empty if the message has ended by now
  std::optional<given_up> abandon(std::size_t index);

private:
  struct work;
  static void serve(const std::shared_ptr<work>& mine);
  static void serve_chunk(work& mine, std::unique_lock<std::mutex>& lock);
  void start();

  settings settings_;
  std::shared_ptr<work> work_;
  std::thread thread_;
};

} // namespace sqlstreams
