#include "actors/session_outcome.hpp"

#include "config/text_checks.hpp"

#include <cstdlib>
#include <cxxabi.h>
#include <exception>
#include <memory>
#include <string>

namespace sqlstreams {

namespace {

std::string type_of_current_exception() {
  const auto* type = abi::__cxa_current_exception_type();
  if (!type)
    return "unknown";
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> readable{
    abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free};
  return status == 0 ? readable.get() : type->name();
}

attempt_policy policy_of(const resolved_options& options,
                         std::chrono::nanoseconds initial_backoff) {
  return {options.retry, initial_backoff};
}

} // namespace

outcome from_handler(outcome answered) {
  if (answered.kind != outcome_kind::deferred
      && answered.kind != outcome_kind::superseded)
    return answered;
  return retry("the handler answered " + std::string{to_string(answered.kind)}
               + ", which only the library may; it can answer done, retry, "
                 "dead or delay");
}

outcome from_exception() {
  try {
    throw;
  } catch (const permanent_failure& e) {
    return dead(e.what());
  } catch (const std::exception& e) {
    return retry(e.what());
  } catch (...) {
    return retry("the handler threw an exception of type "
                 + type_of_current_exception());
  }
}

outcome cut_short(outcome ended) {
  if (ended.kind != outcome_kind::retry)
    return ended;
  ended.kind = outcome_kind::deferred;
  ended.error = "cut short by the end of the consumer: " + ended.error;
  return ended;
}

std::optional<exception_entry>
record_first_run(const message& subject, const outcome& ended,
                 const resolved_options& options,
                 std::chrono::nanoseconds initial_backoff) {
  if (ended.kind == outcome_kind::done)
    return std::nullopt;
  exception_entry entry;
  entry.id = subject.id;
  entry.message_key = subject.message_key;
  entry.policy = options.policy;
  entry.change =
    first_run(ended.kind, policy_of(options, initial_backoff), ended.delay);
  entry.error = storable_error_text(ended.error);
  return entry;
}

exception_settlement
record_later_run(const claimed_exception& subject, const outcome& ended,
                 const resolved_options& options,
                 std::chrono::nanoseconds initial_backoff) {
  exception_settlement settlement;
  settlement.id = subject.message.id;
  settlement.token = subject.token;
  settlement.change =
    later_run({subject.attempts, subject.delays}, ended.kind,
              policy_of(options, initial_backoff), ended.delay);
  settlement.error = storable_error_text(ended.error);
  return settlement;
}

budget_bounds bounds_of(const consumer_config& group) {
  const auto retries = [](const std::optional<retry_policy>& policy) {
    return policy ? policy->max_retries : 0;
  };
  // A group's maximum that is unset is the group's own value.
  const auto maximum = retries(group.message_max.retry);
  const auto own = retries(group.message.retry);
  return {own, retries(group.message_min.retry), maximum > 0 ? maximum : own};
}

bool needs_key_gate(const message& subject, const resolved_options& options) {
  return options.policy != concurrency::parallel
         && !subject.message_key.empty();
}

} // namespace sqlstreams
