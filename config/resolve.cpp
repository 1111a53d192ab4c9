#include "config/resolve.hpp"

namespace sqlstreams {

resolved_options resolve(const message_options& own,
                         const consumer_config& group) {
  const auto defaults = fill(group.message, default_message_options());
  const auto maximum = fill(group.message_max, defaults);
  // The defaults are bounded first, so that `clamped` speaks only of what the
  // message itself asked for.
  const auto asked = fill(own, clamp(defaults, group.message_min, maximum));
  const auto bounded = clamp(asked, group.message_min, maximum);
  resolved_options result;
  result.policy =
    *resolve_concurrency(asked, group.concurrency_override).concurrency;
  result.timeout = bounded.timeout;
  result.retry = *bounded.retry;
  result.scheduled_at = own.scheduled_at;
  result.clamped = asked != bounded;
  return result;
}

message_options
merge_producer_defaults(const message_options& own,
                        const message_options& producer_defaults) {
  return fill(own, producer_defaults);
}

} // namespace sqlstreams
