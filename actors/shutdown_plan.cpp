#include "actors/shutdown_plan.hpp"

#include <algorithm>

namespace sqlstreams {

shutdown_plan plan_shutdown(std::chrono::nanoseconds budget,
                            std::chrono::nanoseconds grace,
                            std::chrono::nanoseconds record_margin) noexcept {
  shutdown_plan plan;
  plan.end = std::max(budget, std::chrono::nanoseconds{0});
  const auto half = plan.end / 2;
  plan.stop_handlers = grace >= half || record_margin >= half - grace
                         ? half
                         : plan.end - grace - record_margin;
  plan.abandon_handlers =
    plan.stop_handlers + std::min(grace, (plan.end - plan.stop_handlers) / 2);
  return plan;
}

} // namespace sqlstreams
