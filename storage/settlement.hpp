#pragma once
// Writing down what became of claimed messages.

#include "config/attempts.hpp"
#include "config/concurrency.hpp"
#include "config/stream_config.hpp"
#include "storage/claim.hpp"

#include <string>
#include <vector>

namespace sqlstreams {

/// A message of a settled range that did not end well: becomes an exception
/// (or, if superseded, only a line of history).
struct exception_entry {
  message_id id = 0;
  std::string message_key{}; ///< empty: none
  concurrency policy = concurrency::parallel;
  exception_change change{}; ///< from `first_run` (design page 09)
  std::string error{};       ///< storable text (rule 16 of design page 06)
};

/// What happens to the part of a range that is not resolved.
enum class unresolved_rest : std::uint8_t {
  kept,        ///< stays leased by the same token
  surrendered, ///< may be taken over at once; not counted as a reclaim
};

/// Everything in (low, resolved_to] has ended; with `resolved_to` equal to the
/// range's high the lease goes, else it narrows and its reclaim count starts
/// anew if anything was resolved. A settlement that leaves the lease as it is
/// (nothing resolved, nothing surrendered) is answered as lost; so is one that
/// narrows a surrendered range.
struct range_settlement {
  lease_token token{};
  message_id resolved_to = 0;
  unresolved_rest rest = unresolved_rest::kept;
  std::vector<exception_entry> exceptions{}; ///< ids in (low, resolved_to]
  std::vector<message_id> successes{};       ///< for history mode `all` only
};

/// The outcome of a run of a claimed exception.
struct exception_settlement {
  message_id id = 0;
  lease_token token{};
  exception_change change{}; ///< from `later_run`; success deletes the row
  std::string error{};
};

struct settle_request {
  stream_id stream = 0;
  group_id group = 0;
  delivery_log_mode history = delivery_log_mode::failures;
  std::vector<range_settlement> ranges{};
  std::vector<exception_settlement> exceptions{};
};

struct settle_result {
  /// Ranges whose lease another instance took over: nothing was written.
  std::vector<lease_token> lost_ranges{};
  /// Exceptions likewise.
  std::vector<message_id> lost_exceptions{};
  message_id committed = 0; ///< the group's cursor after this settle
};

/// The group's bounds on a message's own `retry.max_retries`, so that a
/// statement can tell which rows are over their budget. All resolved, >= 0;
/// zero bounds do not constrain.
struct budget_bounds {
  int max_retries = 3; ///< where the message says nothing
  int minimum = 0;
  int maximum = 0;
};

struct exception_claim_request {
  stream_id stream = 0;
  group_id group = 0;
  int schema_version = 1;
  std::size_t limit = 1; ///< free handler slots
  std::chrono::nanoseconds lease{};
  std::string holder{};
  budget_bounds budget{};
  delivery_log_mode history = delivery_log_mode::failures;
};

struct claimed_exception {
  lease_token token{};
  std::int64_t attempts = 0; ///< of the run that is about to start, zero-based
  std::int64_t delays = 0;
  sqlstreams::message message{};
};

struct exception_claim_result {
  std::vector<claimed_exception> claimed{}; ///< oldest id first
};

/// Marks dead what a crash loop or a lowered budget left behind (rules 14, 15
/// of design page 06; the kill row of design page 09).
struct kill_request {
  stream_id stream = 0;
  group_id group = 0;
  budget_bounds budget{};
  std::size_t limit = 100;
  delivery_log_mode history = delivery_log_mode::failures;
};

struct kill_result {
  std::vector<message_id> killed{};
};

/// A row of the exception queue, for people.
struct exception_row {
  message_id id = 0;
  exception_status status = exception_status::ready;
  std::string message_key{};
  concurrency policy = concurrency::parallel;
  std::int64_t attempts = 0;
  std::int64_t delays = 0;
  timestamp can_run_after{};
  std::string last_error{};
  timestamp created_at{};
};

struct exception_list_request {
  stream_id stream = 0;
  group_id group = 0;
  std::optional<exception_status> status{}; ///< empty: all
  message_id after = 0;                     ///< ids above this one
  std::size_t limit = 100;
};

/// A line of a message's history in a group.
struct history_row {
  message_id id = 0;
  std::int64_t attempt = 0;
  history_kind kind = history_kind::success;
  std::string error{};
  timestamp at{};
};

/// Where a group stands.
struct group_lag {
  message_id head = 0;      ///< highest visible id of the stream; 0 if empty
  message_id claimed = 0;   ///< cursor: everything below was claimed
  message_id committed = 0; ///< cursor: everything below has ended
  /// Messages above `committed`, counted up to 10,000; beyond that the
  /// distance of ids, and `backlog_estimated` is set. Never negative.
  std::int64_t backlog = 0;
  bool backlog_estimated = false;
  std::int64_t ready = 0; ///< exceptions by status
  std::int64_t inflight = 0;
  std::int64_t deferred = 0;
  std::int64_t dead = 0;
  std::int64_t open_leases = 0;
};

} // namespace sqlstreams
