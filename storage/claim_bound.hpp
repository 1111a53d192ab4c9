#pragma once
// The proof that no lower id can still appear (design page 02, "Ids, and never
// skipping a message"), as a pure function: what claim and read of the
// PostgreSQL store do in SQL.

#include "storage/message.hpp"

#include <set>
#include <string>
#include <vector>

namespace sqlstreams {

/// What a group remembers from one claim to the next.
struct claim_proof {
  message_id settled_head = 0; ///< nothing can appear at or below it
  message_id pending_head = 0; ///< to be settled once these are gone:
  std::vector<std::string> pending_holders{};

  bool operator==(const claim_proof&) const = default;
};

/// How far a claim may go.
struct claim_bound {
  claim_proof proof{};
  message_id cap = 0; ///< inclusive
  bool gap = false;   ///< an id above `cap` is visible and held back
};

/// What a claim sees of a stream.
struct visible_ids {
  /// End of the run of visible ids without a hole that begins after the
  /// greater of cursor and settled head; that itself if the next is missing.
  message_id run_end = 0;
  message_id top = 0;                ///< highest visible id; 0: none
  std::set<std::string> producers{}; ///< that hold the producer lock now
  /// Only so much was looked for: the run may go on after `run_end`.
  bool enough = false;
};

/// Decides how far a claim may go from what was proven and what is seen.
/// @pre `seen.run_end` was computed after `settle_pending(before, ...)`
claim_bound find_bound(const claim_proof& before, const visible_ids& seen);

/// Returns the proof after a look at who still holds the producer lock: once
/// none of the awaited holders does, its head is settled.
claim_proof settle_pending(claim_proof before,
                           const std::set<std::string>& producers);

} // namespace sqlstreams
