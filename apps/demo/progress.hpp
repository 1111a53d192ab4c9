#pragma once
// What a run shows while it goes on.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace sqlstreams::demo {

/// A moment of a run.
struct progress {
  std::size_t total = 0; ///< orders
  std::size_t produced = 0;
  std::size_t handled = 0;
  std::int64_t in_flight = 0; ///< claimed by consumers, not yet handled
  double rate = 0;            ///< handled in a second, lately
  std::string note{};         ///< such as "#2 killed"
};

/// Returns the moment as one line with a bar, at most `columns` wide.
std::string render_bar(const progress& now, std::size_t columns);

/// Returns the moment as one line of plain words.
std::string render_plain(const progress& now);

/// How many a second, over the last two seconds.
class rate_meter {
public:
  using time = std::chrono::steady_clock::time_point;

  /// Notes a count that only grows.
  void note(time at, std::size_t count);

  [[nodiscard]] double per_second() const noexcept;

private:
  struct sample {
    time at;
    std::size_t count;
  };

  std::deque<sample> samples_;
};

/// Writes to standard output: on a terminal one line that is drawn anew, else
/// a plain line each second. A closed output is ignored.
class progress_view {
public:
  progress_view();

  /// Ends the line that is drawn.
  ~progress_view() { finish(); }
  progress_view(const progress_view&) = delete;
  progress_view& operator=(const progress_view&) = delete;

  /// Shows a moment.
  void show(const progress& now);

  /// Writes a line that stays.
  void say(std::string_view text);

  /// Leaves the line that is drawn as it is; the next one is drawn below.
  void finish();

private:
  bool terminal_;
  std::string drawn_{};
  std::chrono::steady_clock::time_point last_plain_{};
};

} // namespace sqlstreams::demo
