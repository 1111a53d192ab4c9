#include "config/consumer_config.hpp"

#include "config/checked_fields.hpp"
#include "config/text_checks.hpp"

namespace sqlstreams {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

std::string show(int value) { return std::to_string(value); }
std::string show(nanoseconds value) { return format_duration(value); }

/// A group's default for one number, and its bounds (zero: none).
template <class T>
struct bounded {
  std::string_view name;
  T minimum, standard, maximum;
};

/// minimum <= default <= maximum. The bounds were declared, so they are named
/// first: that is where a reader will look.
template <class T>
void check_order(field_checks& checks, const bounded<T>& field) {
  const auto path = [&](std::string_view where) {
    return std::string(where) + "." + std::string(field.name);
  };
  const auto standard =
    "message." + std::string(field.name) + " " + show(field.standard);
  if (field.minimum > T{} && field.minimum > field.standard)
    checks.add(path("message_min"),
               "is " + show(field.minimum) + ", above " + standard,
               "at most the value of message", path("message"));
  if (field.maximum > T{} && field.standard > field.maximum)
    checks.add(path("message_max"),
               "is " + show(field.maximum) + ", below " + standard,
               "at least the value of message", path("message"));
}

void check_bounds(field_checks& checks, const consumer_config& group) {
  const auto retry = *group.message.retry;
  const auto low = group.message_min.retry.value_or(retry_policy{});
  const auto high = group.message_max.retry.value_or(retry_policy{});
  check_order(checks, bounded<nanoseconds>{"timeout", group.message_min.timeout,
                                           group.message.timeout,
                                           group.message_max.timeout});
  check_order(checks, bounded<int>{"retry.max_retries", low.max_retries,
                                   retry.max_retries, high.max_retries});
  // For a cap, zero is no limit at all: nothing contradicts it.
  if (retry.max_delays > 0)
    check_order(checks, bounded<int>{"retry.max_delays", low.max_delays,
                                     retry.max_delays, high.max_delays});
  check_order(checks, bounded<nanoseconds>{"retry.base_delay", low.base_delay,
                                           retry.base_delay, high.base_delay});
  check_order(checks, bounded<nanoseconds>{"retry.max_delay", low.max_delay,
                                           retry.max_delay, high.max_delay});
  check_order(checks, bounded<int>{"retry.exponent", low.exponent,
                                   retry.exponent, high.exponent});
}

void check_bound_fields(field_checks& checks, std::string_view name,
                        const message_options& bound) {
  if (bound.concurrency)
    checks.add(std::string(name) + ".concurrency",
               "is set, but bounds have no concurrency",
               "nothing here; see concurrency_override");
  checks.append(name, validate_sparse(bound));
}

void check_group_message(field_checks& checks, const message_options& options) {
  checks.positive("message.timeout", options.timeout);
  if (options.scheduled_at)
    checks.add("message.scheduled_at", "is set",
               "nothing: only schedules set it");
  checks.append("message.retry", options.retry->validate());
}

void check_bindings(field_checks& checks,
                    const std::vector<std::string>& bindings) {
  for (std::size_t i = 0; i < bindings.size(); ++i) {
    const bool bad = bindings[i].empty() || has_nul(bindings[i])
                     || !is_valid_utf8(bindings[i]);
    if (bad)
      checks.add("bindings",
                 "has an unusable pattern at position " + std::to_string(i + 1),
                 "UTF-8 texts that are not empty, such as \"eu.*\"");
  }
}

nanoseconds longest_timeout(const consumer_config& group) {
  return group.with_defaults().message_max.timeout;
}

} // namespace

message_options default_message_options() {
  message_options options;
  options.timeout = 30s;
  options.retry = retry_policy{}.with_defaults(retry_job::redelivery);
  return options;
}

consumer_config consumer_config::with_defaults() const {
  auto group = *this;
  group.message = fill(group.message, default_message_options());
  const auto declared = group.message_max.concurrency;
  group.message_max = fill(group.message_max, group.message);
  group.message_max.concurrency = declared;
  set_default(group.exception_initial_backoff, nanoseconds{5s});
  set_default(group.max_range_reclaims, 3);
  return group;
}

std::vector<problem> consumer_config::validate() const {
  const auto group = with_defaults();
  field_checks checks;
  check_group_message(checks, group.message);
  check_bound_fields(checks, "message_min", message_min);
  check_bound_fields(checks, "message_max", message_max);
  check_bounds(checks, group);
  check_bindings(checks, bindings);
  checks.positive("exception_initial_backoff", group.exception_initial_backoff);
  checks.between("max_range_reclaims", group.max_range_reclaims, 1, max_count);
  if (start.where == cursor_position::kind::at_message)
    checks.between("start.at_message", start.message_id, 1, INT64_MAX);
  return checks.take();
}

nanoseconds range_lease(const consumer_config& group,
                        const consume_options& options) {
  return saturating_sum({needed_to_start(longest_timeout(group), options),
                         options.with_defaults().queue_margin});
}

nanoseconds needed_to_start(nanoseconds timeout,
                            const consume_options& options) {
  const auto margins = options.with_defaults();
  return saturating_sum(
    {timeout, margins.timeout_grace, margins.record_margin});
}

nanoseconds shutdown_budget(const consumer_config& group,
                            const consume_options& options) {
  if (options.shutdown_timeout > 0ns)
    return options.shutdown_timeout;
  return needed_to_start(longest_timeout(group), options);
}

} // namespace sqlstreams
