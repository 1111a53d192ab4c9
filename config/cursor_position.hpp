#pragma once

#include <chrono>
#include <cstdint>

namespace sqlstreams {

/// Where a new group starts to read.
struct cursor_position {
  enum class kind : std::uint8_t {
    beginning,  ///< the oldest retained message
    head,       ///< after the highest id there is
    at_message, ///< the message with this id, or the next
    at_time,    ///< the first message created then or later
  };

  kind where = kind::beginning;
  std::int64_t message_id = 0;                     ///< for at_message
  std::chrono::system_clock::time_point instant{}; ///< for at_time

  bool operator==(const cursor_position&) const = default;
};

inline cursor_position beginning() noexcept { return {}; }

/// A transaction that commits later with a lower id is not seen by the group.
inline cursor_position head() noexcept {
  return {cursor_position::kind::head, 0, {}};
}

/// @param id the first message to read; positive
inline cursor_position at_message(std::int64_t id) noexcept {
  return {cursor_position::kind::at_message, id, {}};
}

inline cursor_position
at_time(std::chrono::system_clock::time_point instant) noexcept {
  return {cursor_position::kind::at_time, 0, instant};
}

} // namespace sqlstreams
