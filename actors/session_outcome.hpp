#pragma once

#include "actors/outcome.hpp"
#include "config/consumer_config.hpp"
#include "config/resolve.hpp"
#include "storage/settlement.hpp"

#include <chrono>
#include <optional>

namespace sqlstreams {

/// Returns what a handler answered as one of the outcomes it may give:
/// `deferred` and `superseded` are not for it to say and count as failures.
outcome from_handler(outcome answered);

/// Returns what the exception in flight means as an outcome: `dead` for
/// permanent_failure, else `retry` with its text, whatever its type.
/// @pre called in a catch clause
outcome from_exception();

/// Returns what a run comes to that was asked to end because its session does.
/// A failure says nothing about the message then: it is deferred, that is runs
/// again at the same attempt as soon as somebody is there. What the handler
/// said otherwise stands.
outcome cut_short(outcome ended);

/// Returns what is to be written about a message whose first run ended; empty
/// if it succeeded.
std::optional<exception_entry>
record_first_run(const message& subject, const outcome& ended,
                 const resolved_options& options,
                 std::chrono::nanoseconds initial_backoff);

/// Returns what is to be written about a claimed exception whose run ended.
exception_settlement record_later_run(const claimed_exception& subject,
                                      const outcome& ended,
                                      const resolved_options& options,
                                      std::chrono::nanoseconds initial_backoff);

/// Returns the group's bounds as the store wants them.
/// @param group with its defaults
budget_bounds bounds_of(const consumer_config& group);

/// Returns whether the message may only run when its key is free, which this
/// version cannot see to.
bool needs_key_gate(const message& subject, const resolved_options& options);

} // namespace sqlstreams
