#pragma once
// Every message between our actors: sender -> receiver, and what answers it.
// All are local to a process unless said otherwise. CAF 0.17 finds handlers by
// type, so each has a struct of its own.
//
// Storage requests are the store's own request structs (storage/*.hpp), sent
// by logic actors to the storage pool and answered with the result struct of
// the call; the few calls whose arguments are no struct get one here. A failed
// call is answered with a caf::error made by `to_caf_error`
// (error_transport.hpp).

#include "actors/consume_spec.hpp"
#include "actors/pending_work.hpp"
#include "actors/run_item.hpp"
#include "actors/session_totals.hpp"
#include "config/error.hpp"
#include "storage/claim.hpp"
#include "storage/registration.hpp"
#include "storage/settlement.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams {

// -- anyone -> storage pool --------------------------------------------------

/// Answered with system_registration.
struct register_system_request {};

/// Answered with system_reply.
struct find_system_request {};
struct system_reply {
  std::optional<system_info> system;
};

/// Answered with stream_reply.
struct find_stream_request {
  std::string name;
};
struct stream_reply {
  std::optional<stream_info> stream;
};

/// Answered with streams_reply.
struct list_streams_request {};
struct streams_reply {
  std::vector<stream_info> streams;
};

/// Answered with group_reply.
struct find_group_request {
  stream_id stream = 0;
  std::string name;
};
struct group_reply {
  std::optional<group_info> group;
};

/// Answered with groups_reply.
struct list_groups_request {
  stream_id stream = 0;
};
struct groups_reply {
  std::vector<group_info> groups;
};

/// Answered with produce_reply. One transaction.
struct produce_request {
  stream_id stream = 0;
  std::shared_ptr<const std::vector<new_message>> messages;
  std::chrono::nanoseconds attempt_timeout{}; ///< 0: that of other calls
};

/// Answered with exceptions_reply.
struct exceptions_reply {
  std::vector<exception_row> rows;
};

/// Answered with history_reply.
struct history_request {
  stream_id stream = 0;
  group_id group = 0;
  message_id id = 0;
};
struct history_reply {
  std::vector<history_row> rows;
};

/// Answered with group_lag.
struct lag_request {
  stream_id stream = 0;
  group_id group = 0;
};

// -- anyone -> producer ------------------------------------------------------

/// Answered with produce_reply, in the order of the messages, or with the first
/// message's error if nothing was produced.
struct produce_messages {
  std::vector<new_message> messages;
  /// One message, or a batch that stays whole in one transaction. Single
  /// messages of several requests share transactions.
  bool whole = false;
};
struct produce_reply {
  std::vector<produced> messages;
};

// -- anyone -> consumer session ----------------------------------------------

/// Begin the shutdown of design page 06, rule 34: no new claims, running
/// handlers finish within the budget, outcomes are recorded, the rest is
/// surrendered. Answered with session_totals when all is recorded; the session
/// ends by itself then.
struct stop_consuming {};

/// Answered at once with session_totals.
struct get_session_totals {};

/// session -> its owner (the actor given at spawn), once, when it has ended.
struct session_ended {
  std::string stream;
  std::string group;
  session_totals totals;
  std::string reason;     ///< empty: asked to stop, or max_messages reached
  std::string fix;        ///< what to do about that
  std::uint16_t code = 0; ///< of the error that ended it; 0: none
  recovery recover = recovery::permanent; ///< of that error
};

// -- inside a consumer session -----------------------------------------------

/// claimer, lease_reclaimer, exception_consumer -> session: may I claim? The
/// session answers when there is room, perhaps much later, with claim_granted.
struct ready_to_claim {
  claim_source source = claim_source::fresh;
  std::size_t wanted = 1; ///< exception_consumer: its free slots
};

/// session -> the same. What came of it is told by the three messages below,
/// of which each grant brings exactly one.
struct claim_granted {
  std::size_t limit = 1;
  std::size_t limit_bytes = 0;
};

/// claimer -> session.
struct fresh_claimed {
  /// Empty: nothing could be claimed.
  std::shared_ptr<const claimed_range> claimed;
  monotonic_time lease_end{};
  bool paused = false; ///< what the store says about the group
  bool known = true;   ///< false: the claim failed, `paused` says nothing
};

/// lease_reclaimer -> session.
struct ranges_reclaimed {
  std::vector<std::shared_ptr<const claimed_range>> ranges;
  monotonic_time lease_end{};
  std::size_t reclaimed = 0; ///< of them, whose holder vanished
  std::size_t quarantined = 0;
};

/// lease_reclaimer -> session: exceptions marked dead.
struct exceptions_marked_dead {
  std::size_t count = 0;
};

/// exception_consumer -> session.
struct exceptions_claimed {
  std::size_t count = 0; ///< each brings an exception_ended
};

/// exception_consumer -> session: the outcome of a claimed exception.
struct exception_ended {
  exception_settlement settlement;
  monotonic_time lease_end{};
  bool abandoned = false;
};

/// session -> recorder: write these down. What cannot be written yet is kept
/// and tried again while its lease lasts.
struct record_outcomes {
  std::vector<pending_range> ranges;
  std::vector<pending_exception> exceptions;
};

/// recorder -> session. A part that is lost is not ours any more.
struct outcomes_recorded {
  std::vector<range_number> ranges;
  std::vector<range_number> lost_ranges;
  std::vector<std::uint64_t> exceptions;
  std::vector<std::uint64_t> lost_exceptions;
};

/// config_refresher -> session -> its other children.
struct group_changed {
  std::shared_ptr<const group_info> group;
};

/// recorder -> session: nothing can be recorded any more.
struct recording_failed {
  std::shared_ptr<const error> why;
};

/// any child -> session: this session cannot go on.
struct session_failed {
  std::shared_ptr<const error> why;
};

/// session -> exception_consumer and runners: start nothing more; what runs
/// goes on. A chunk that is cut short is reported as usual.
struct finish_early {};

/// session -> exception_consumer and runners: stop tokens fire now; what has
/// not ended after `grace` is abandoned. What fails after this is reported as
/// `deferred`: it was not the message's fault.
struct stop_handlers {
  std::chrono::nanoseconds grace{};
};

/// session or exception_consumer -> runner: run these, one after the other.
/// Answered by chunk_finished.
struct run_chunk {
  std::uint64_t number = 0;
  std::shared_ptr<const std::vector<run_item>> items;
};

/// session -> runner: the lease of this range is lost. Its running message is
/// asked to stop, the others do not start.
struct cancel_range {
  range_number range = 0;
};

/// runner -> its owner.
struct chunk_finished {
  std::size_t slot = 0; ///< of the runner
  std::uint64_t number = 0;
  std::vector<run_result> results; ///< one an item
  std::chrono::nanoseconds busy{}; ///< spent in the handler
  /// The handler of an abandoned run still occupies the slot; `slot_freed`
  /// follows when it has ended.
  bool occupied = false;
};

/// runner -> its owner.
struct slot_freed {
  std::size_t slot = 0;
};

// -- handler runner -> user's handler actor ----------------------------------

/// Answered with `outcome`. No answer by the deadline is a failure; until it
/// comes after all the delivery counts as an abandoned run, of which a session
/// bears only so many. A handler actor that goes down fails its open deliveries
/// at once.
struct deliver {
  std::shared_ptr<const sqlstreams::message> message;
  std::string stream;
  std::string group;
  std::int64_t attempt = 0;
  std::int64_t delays = 0;
  resolved_options options{};
  std::chrono::nanoseconds time_left{};
};

/// The delivery with these fields is over time, its lease is lost, or the
/// session ends: the handler actor is to answer it as soon as it can. What it
/// answers within the grace counts. Nothing answers this; who has no use for it
/// handles it all the same, with an empty function. May come after the answer.
struct stop_delivery {
  message_id id = 0;
  std::string stream;
  std::string group;
  std::int64_t attempt = 0;
};

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::register_system_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::system_registration)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::find_system_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::system_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stream_declaration_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stream_registration)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::group_declaration_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::group_registration)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::find_stream_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stream_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::list_streams_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::streams_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::find_group_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::group_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::list_groups_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::groups_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::produce_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::produce_messages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::produce_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::claim_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::claim_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::reclaim_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::reclaim_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::settle_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::settle_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_claim_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_claim_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::kill_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::kill_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_list_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exceptions_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::history_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::history_reply)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::read_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::read_result)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::lag_request)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::group_lag)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stop_consuming)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::get_session_totals)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::session_totals)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::session_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::deliver)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stop_delivery)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::outcome)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::ready_to_claim)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::claim_granted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::fresh_claimed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::ranges_reclaimed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exceptions_marked_dead)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exceptions_claimed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exception_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::record_outcomes)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::outcomes_recorded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::group_changed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::recording_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::session_failed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::finish_early)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stop_handlers)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::run_chunk)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::cancel_range)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::chunk_finished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::slot_freed)
