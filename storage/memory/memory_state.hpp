#pragma once
// What the sessions of an in-memory installation share. Internal to
// storage/memory.

#include "storage/claim_bound.hpp"
#include "storage/memory/memory_store.hpp"

#include <deque>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace sqlstreams {

/// A drawn id. It is not visible while in flight, nor once rolled back.
struct memory_slot {
  bool visible = false;
  sqlstreams::message message{};
};

/// A producer's transaction that has not ended.
struct open_transaction {
  timestamp begun{};
  std::vector<message_id> ids{};
  std::vector<std::string> keys{}; ///< idempotency keys it was first to use
};

struct memory_lease {
  id_range range{};
  std::string holder{};
  timestamp expires_at{};
  int reclaims = 0;
  bool surrendered = false;
};

struct memory_exception {
  exception_row row{};
  lease_token token{};
  timestamp lease_expires_at{};
  std::string holder{};
};

/// A group's exception queue. `unresolved` are the rows that are not dead: what
/// is polled, and what holds `committed`.
class memory_exceptions {
public:
  using rows = std::map<message_id, memory_exception>;

  [[nodiscard]] const rows& all() const noexcept { return rows_; }
  [[nodiscard]] const std::set<message_id>& unresolved() const noexcept {
    return unresolved_;
  }

  /// @returns the row; null if there is none
  memory_exception* find(message_id id);

  /// Adds a row or changes the one with its id.
  void put(memory_exception entry);
  void erase(message_id id);

private:
  rows rows_;
  std::set<message_id> unresolved_;
};

struct memory_group {
  group_info info{};
  message_id claimed = 0;
  message_id committed = 0;
  claim_proof proof{};
  std::map<lease_token, memory_lease> leases{};
  memory_exceptions exceptions{};
  std::map<message_id, std::vector<history_row>> history{};
};

struct memory_stream {
  stream_info info{};
  message_id first_retained = 1;
  std::deque<memory_slot> log{}; ///< of id n at n - first_retained
  message_id top = 0;            ///< highest visible id
  std::map<std::string, message_id> idempotency_keys{};
  std::map<std::string, memory_group, std::less<>> groups{};
  std::map<std::uint64_t, open_transaction> transactions{};

  /// @returns the message; null if it is not visible
  [[nodiscard]] const message* find(message_id id) const;

  /// @returns its slot; null if it was dropped or never drawn
  [[nodiscard]] memory_slot* slot(message_id id);

  /// @returns the highest id that was drawn; 0: none
  [[nodiscard]] message_id drawn() const;

  /// @returns the end of the run of visible ids after `start`, of `most` ids
  [[nodiscard]] message_id run_end(message_id start, std::size_t most) const;

  /// @returns the names of the open transactions
  [[nodiscard]] std::set<std::string> producers() const;
};

struct memory_state {
  memory_database::clock now;
  std::mt19937_64 random;
  bool registered = false;
  std::map<std::string, memory_stream, std::less<>> streams{};
  /// The same by number; a map's elements stay where they are.
  std::map<stream_id, memory_stream*> stream_numbers{};
  std::map<group_id, memory_group*> group_numbers{};
  std::uint64_t last_transaction = 0;

  lease_token draw_token();

  /// @throws error stream_not_found
  memory_stream& stream(stream_id id);

  /// @throws error group_not_found
  memory_group& group(stream_id stream, group_id id);
};

/// Draws ids for messages in an open transaction.
std::vector<produced> draw(memory_state& state, memory_stream& stream,
                           std::uint64_t transaction,
                           const std::vector<new_message>& messages);

/// Ends an open transaction.
void finish(memory_stream& stream, std::uint64_t transaction, bool commit);

/// Drops the messages up to `last`.
void drop(memory_stream& stream, message_id last);

/// Moves `committed` up to what is resolved, never back.
void advance_committed(memory_group& group);

/// Appends to a message's history, if the mode has such lines.
void log_delivery(memory_group& group, delivery_log_mode mode,
                  history_row line);

/// Returns the messages of a range that a group of this schema version reads.
std::vector<message> read_range(const memory_stream& stream,
                                const memory_group& group, id_range range,
                                int schema_version);

/// Returns the time after a wait; as late as there is if it would be later.
timestamp later(timestamp start, std::chrono::nanoseconds wait);

} // namespace sqlstreams
