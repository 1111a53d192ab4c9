#pragma once

#include "actors/handler_pace.hpp"

#include <chrono>
#include <optional>

namespace sqlstreams {

/// How many messages to claim at once. Automatic: so many that the handlers
/// work them off within half of the queue's margin, so that none of them comes
/// near the end of its lease by waiting. Pure.
class claim_batch {
public:
  struct settings {
    int fixed = 0;                     ///< batch_limit; 0: automatic
    int largest = 1000;                ///< batch_max, of an automatic batch
    std::chrono::nanoseconds margin{}; ///< queue_margin
    int handlers = 1;                  ///< message_concurrency
  };

  explicit claim_batch(const settings& given) noexcept;

  /// Returns the size for the next claim, >= 1.
  /// @param pace of the handler; empty: not known yet
  [[nodiscard]] int
  size(std::optional<std::chrono::nanoseconds> pace) const noexcept;

  /// A claim of this size was made: the next may be twice as large at most, so
  /// that one lucky measurement does not fill the queue with slow work.
  void claimed(int size) noexcept;

  /// Messages waited until their lease was too short: the batch is halved, and
  /// stays so for a few claims.
  void lease_was_too_short() noexcept;

private:
  settings settings_;
  int ceiling_;
  int careful_claims_ = 0; ///< claims before the ceiling may rise again
};

} // namespace sqlstreams
