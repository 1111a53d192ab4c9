#pragma once
// Running programs as a user would, from tests.

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sys/types.h>

namespace sqlstreams::test {

/// What to run and with what.
struct command {
  std::vector<std::string> argv; ///< argv[0]: path, or a name in PATH
  std::string input{};           ///< all of its standard input
  /// Added to the test's own environment; an empty value removes the name.
  std::map<std::string, std::string> environment{};
  std::string directory{}; ///< where it runs; empty: where the test does
};

/// How a program ended and what it said.
struct command_result {
  int status = -1; ///< exit status; 128 + n if signal n ended it
  std::string out{};
  std::string err{};
  std::size_t peak_memory_bytes = 0; ///< resident, of the program alone
};

/// A running program with both its outputs captured. Waits are bounded: what
/// does not come in time is an exception that shows all output so far. The
/// destructor kills the program and its children if it still runs.
class child_process {
public:
  static constexpr std::chrono::seconds patience{60};

  /// Starts it. With `keep_input` its standard input stays open after
  /// `what.input` for `write` and `close_input`.
  /// @throws std::runtime_error if it cannot be started
  explicit child_process(const command& what, bool keep_input = false);
  ~child_process();
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

  /// Waits until standard output holds `text` at least `times` times.
  void wait_for_output(std::string_view text, std::size_t times = 1,
                       std::chrono::seconds limit = patience);

  /// The same for standard error.
  void wait_for_error_output(std::string_view text, std::size_t times = 1,
                             std::chrono::seconds limit = patience);

  /// Returns its standard output so far.
  std::string output_so_far();

  /// Sends a signal to the program alone.
  void signal(int number);

  /// Gives it more input.
  void write(std::string_view text);

  /// Ends its input.
  void close_input();

  /// Closes our end of its standard output, so that its writes fail.
  void close_output();

  /// Waits for its end, so long at most.
  /// @returns whether it has ended
  bool ended(std::chrono::milliseconds within);

  /// Waits for its end. May be called again.
  command_result wait(std::chrono::seconds limit = patience);

private:
  struct capture {
    int fd = -1;
    int wake[2] = {-1, -1}; ///< ends the reader early
    std::string text{};
    bool ended = false;
    std::thread reader{};
  };

  void start_capture(capture& from, int fd);
  void stop_capture(capture& from);
  void read_all(capture& from);
  void wait_for(capture& from, std::string_view text, std::size_t times,
                std::chrono::seconds limit);
  void fail(const std::string& why);
  bool reap(std::chrono::milliseconds limit);
  void kill_all();

  std::string name_;
  pid_t pid_ = -1;
  int ended_ = -1; ///< descriptor that becomes readable at its end
  int status_ = -1;
  std::size_t peak_memory_bytes_ = 0;
  bool reaped_ = false;
  int input_ = -1;
  std::mutex mutex_;
  std::condition_variable changed_;
  capture out_;
  capture err_;
  std::thread writer_;
};

/// Runs a program to its end.
command_result
run_command(const command& what,
            std::chrono::seconds limit = child_process::patience);

} // namespace sqlstreams::test
