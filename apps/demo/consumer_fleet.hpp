#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sqlstreams::demo {

/// A consumer process of this run.
struct consumer_process {
  int number = 0; ///< from 1
  pid_t pid = 0;
  std::optional<int> status{}; ///< exit status, 128 + n after signal n; empty
                               ///< while it runs
  bool killed = false;         ///< by this run
};

/// The consumer processes: this program again, with a hidden argument. Those
/// that still run at destruction are killed. For the thread that made it.
class consumer_fleet {
public:
  /// @param url goes to the processes by their environment, where other users
  ///   of the machine cannot see it
  consumer_fleet(std::filesystem::path work, std::string url,
                 std::string schema);
  ~consumer_fleet();
  consumer_fleet(const consumer_fleet&) = delete;
  consumer_fleet& operator=(const consumer_fleet&) = delete;

  /// Starts one more.
  /// @throws std::system_error
  void start_one();

  /// Looks who has ended.
  void look();

  /// Ends one as a power cut would: SIGKILL.
  void kill(int number);

  /// Asks all to stop and waits.
  /// @returns false if some had not ended at the limit
  bool stop(std::chrono::seconds limit);

  [[nodiscard]] const std::vector<consumer_process>& all() const noexcept {
    return processes_;
  }

private:
  bool running() const noexcept;

  std::filesystem::path work_;
  std::string url_;
  std::string schema_;
  std::vector<consumer_process> processes_;
};

} // namespace sqlstreams::demo
