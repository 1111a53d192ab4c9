#pragma once

#include <chrono>

namespace sqlstreams {

/// The steps of a session's end, each as time from its beginning, ascending.
struct shutdown_plan {
  std::chrono::nanoseconds stop_handlers{};    ///< their stop tokens fire
  std::chrono::nanoseconds abandon_handlers{}; ///< they are not waited for
  std::chrono::nanoseconds end{}; ///< nothing is, not even the database
};

/// Returns the plan for a budget: handlers have it all but the grace and the
/// margin for recording. If those would take more than half of it, each step
/// gets its share instead, so that the end is always within the budget.
shutdown_plan plan_shutdown(std::chrono::nanoseconds budget,
                            std::chrono::nanoseconds grace,
                            std::chrono::nanoseconds record_margin) noexcept;

} // namespace sqlstreams
