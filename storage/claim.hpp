#pragma once
// Claiming ranges of fresh messages, and taking over expired ones.

#include "storage/id_range.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams {

/// Proves that its holder may write the outcome of what it claimed: a new one
/// with each claim and each takeover, never reused. A uuid as text, opaque.
using lease_token = std::string;

struct claim_request {
  stream_id stream = 0;
  group_id group = 0;
  int schema_version = 1; ///< rows of other versions pass under the cursor
  std::size_t limit = 1;  ///< ids at most, >= 1
  /// Bytes of payload after which the claim stops early (at least one message
  /// is claimed all the same); 0: no cap.
  std::size_t limit_bytes = 0;
  std::chrono::nanoseconds lease{}; ///< from the database's now
  std::string holder{};             ///< instance name, for people
};

/// A range under a lease, with its messages in id order: those of the range
/// that match the group's schema version and bindings. May hold none.
struct claimed_range {
  lease_token token{};
  id_range range{};
  int reclaims = 0; ///< takeovers of this range from holders that vanished
  std::vector<message> messages{};
};

/// An open producer transaction that may still commit ids below visible ones.
struct claim_hold {
  message_id missing = 0; ///< first id that is not visible yet
  int pid = 0;            ///< of the oldest holder's backend; 0 if prepared
  std::string application{};
  std::chrono::nanoseconds age{}; ///< of that transaction
};

struct claim_result {
  /// Empty: nothing may be claimed now, or all that the cursor has just passed
  /// was for others (then `more` says whether to ask again).
  std::optional<claimed_range> claimed{};
  std::optional<claim_hold> hold{}; ///< set if a gap stops the claim
  /// Ids dropped by retention that the cursor went over, if any.
  std::optional<id_range> behind_retention{};
  bool more = false;   ///< another claim would find something at once
  bool paused = false; ///< the group is paused: nothing is claimed
};

struct reclaim_request {
  stream_id stream = 0;
  group_id group = 0;
  int schema_version = 1;
  std::size_t limit = 1;            ///< ranges at most
  int max_range_reclaims = 3;       ///< taken over so often: quarantined next
  std::chrono::nanoseconds lease{}; ///< of the new leases
  std::string holder{};
};

struct reclaimed_range {
  claimed_range claimed{};
  std::string previous_holder{};
  bool surrendered = false; ///< given up by its holder, not counted
};

/// A range whose messages became exceptions of their own.
struct quarantined_range {
  id_range range{};
  std::size_t messages = 0;
  std::string previous_holder{};
};

struct reclaim_result {
  std::vector<reclaimed_range> reclaimed{};
  std::vector<quarantined_range> quarantined{};
};

/// Where a reader without a group stands: its cursor and the proof it is
/// building (design page 02, "Ids, and never skipping a message"). Opaque;
/// start with `after` only.
struct read_position {
  message_id after = 0;
  message_id settled_head = 0;
  message_id pending_head = 0;
  std::vector<std::string> pending_holders{};
};

struct read_request {
  stream_id stream = 0;
  read_position position{};
  std::size_t limit = 100;
};

struct read_result {
  read_position position{}; ///< to go on from
  std::vector<message> messages{};
};

} // namespace sqlstreams
