#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace sqlstreams {

/// Lines of a file or a pipe, one at a time: memory does not grow with the
/// input. Does not own the descriptor. Not thread-safe.
class line_source {
public:
  struct line {
    std::uint64_t number = 0; ///< one-based, empty lines counted
    std::string text{};       ///< without line end; a CR before LF is dropped
    bool too_long = false;    ///< longer than the limit: the text is cut there
  };

  /// @param fd open for reading, blocking
  /// @param limit_bytes of a line; what a line has beyond is read and dropped
  line_source(int fd, std::size_t limit_bytes);

  /// Returns the next line, waiting for it; empty at the end. A last line
  /// without line end counts.
  /// @throws error file_unreadable
  std::optional<line> next();

  /// Returns whether `next` would return at once. False means that whoever
  /// writes has paused: a good moment to send what was gathered.
  [[nodiscard]] bool ready() const;

private:
  /// Moves bytes of the buffer into the line; returns whether it is complete.
  bool take_from_buffer();
  bool fill();

  int fd_;
  std::size_t limit_;
  std::string buffer_{};
  std::size_t at_ = 0; ///< first byte of the buffer that is not used yet
  bool ended_ = false;
  line current_{};
  bool started_ = false; ///< current_ holds (an empty) part of a line
  std::uint64_t number_ = 0;
};

} // namespace sqlstreams
