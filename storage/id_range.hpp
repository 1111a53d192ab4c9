#pragma once

#include "storage/message.hpp"

namespace sqlstreams {

/// The ids in (low, high]: what a lease covers.
struct id_range {
  message_id low = 0;  ///< exclusive
  message_id high = 0; ///< inclusive

  [[nodiscard]] bool empty() const noexcept { return high <= low; }
  [[nodiscard]] bool contains(message_id id) const noexcept {
    return low < id && id <= high;
  }
  bool operator==(const id_range&) const = default;
};

} // namespace sqlstreams
