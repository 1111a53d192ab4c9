#pragma once

#include "actors/pending_work.hpp"
#include "storage/settlement.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace sqlstreams {

/// Outcomes by what they leave behind.
struct outcome_counts {
  std::size_t success = 0;
  std::size_t ready = 0; ///< failed, comes again
  std::size_t delayed = 0;
  std::size_t deferred = 0;
  std::size_t dead = 0;

  /// Counts what is to be written about a message.
  void add(const exception_change& change) noexcept;
  [[nodiscard]] std::size_t total() const noexcept {
    return success + ready + delayed + deferred + dead;
  }
  bool operator==(const outcome_counts&) const = default;
};

/// What a recorded settlement did.
struct recorded_range {
  outcome_counts counts{};
  bool ended = false;         ///< the range is forgotten
  std::size_t given_back = 0; ///< messages surrendered without an outcome
};

/// The ranges that a session holds and what became of each of their messages:
///
///     unstarted <-> running -> resolved -> recorded
///
/// A range leaves when all of it is recorded, when its rest was surrendered, or
/// when its lease is lost. Whatever is said about a range that has left is
/// ignored, so that a late handler can do no harm. Pure.
class range_tracker {
public:
  /// @param record_successes for history mode `all`
  explicit range_tracker(bool record_successes = false) noexcept
    : record_successes_{record_successes} {}

  /// Takes a claimed range up.
  /// @param ids of its messages, ascending; may be none
  range_number add(lease_token token, id_range range,
                   std::vector<message_id> ids, monotonic_time lease_end);

  /// A message is handed to a handler.
  /// @returns false if it must not start: resolved, its range surrendered or
  ///   gone
  bool start(range_number number, std::size_t index);

  /// A message that was handed out did not start after all.
  void put_back(range_number number, std::size_t index);

  /// A message has ended.
  /// @param entry what to write about it; empty: success
  /// @returns false if that counts no more: already resolved, or range gone
  bool resolve(range_number number, std::size_t index,
               std::optional<exception_entry> entry);

  /// Nothing more of the range is going to start here; what runs may end.
  /// @returns false if that was known, or the range is gone
  bool surrender(range_number number);
  void surrender_all();

  /// The lease is no longer ours: forgets the range.
  /// @returns false if it is gone already
  bool lose(range_number number);

  enum class progress : std::uint8_t {
    ended,   ///< only ranges that end
    partial, ///< also what is resolved of others
  };

  /// Returns what can be recorded now and was not handed out since.
  std::vector<pending_range> collect(progress what);

  /// A settlement took effect.
  /// @returns what it did; empty if the range is gone
  std::optional<recorded_range> recorded(range_number number);

  /// Nobody knows what became of the settlements handed out: the same are
  /// collected again.
  void collect_again();

  [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
  [[nodiscard]] bool holds(range_number number) const noexcept {
    return ranges_.contains(number);
  }

  /// Returns whether messages of the range may start.
  [[nodiscard]] bool accepts(range_number number) const noexcept;

  /// Returns how many messages have been started, or are resolved without, and
  /// have no outcome recorded yet.
  [[nodiscard]] std::size_t begun() const noexcept;

  /// Returns how many messages have no outcome recorded yet, those that are
  /// surrendered left out.
  [[nodiscard]] std::size_t unrecorded() const noexcept;

private:
  enum class stage : std::uint8_t { unstarted, running, resolved };

  struct tracked {
    lease_token token;
    id_range range; ///< narrows as it is recorded
    std::vector<message_id> ids;
    std::vector<stage> stages;
    std::map<std::size_t, exception_entry> entries;
    monotonic_time lease_end;
    std::size_t prefix = 0;   ///< all before are resolved
    std::size_t recorded = 0; ///< all before are recorded
    std::size_t running = 0;
    std::size_t resolved = 0;
    bool surrendered = false;
    /// Of a settlement that was handed out: the prefix it covers.
    std::optional<std::size_t> settling{};
    bool settling_rest = false; ///< it gives the rest back
    bool again = false;         ///< it is to be handed out once more
    [[nodiscard]] bool complete() const noexcept {
      return prefix == ids.size();
    }
    [[nodiscard]] bool ends() const noexcept {
      return complete() || (surrendered && running == 0);
    }
  };

  [[nodiscard]] pending_range settle(range_number number, tracked& range) const;
  tracked* find(range_number number) noexcept;

  bool record_successes_;
  std::map<range_number, tracked> ranges_;
  range_number last_ = 0;
};

} // namespace sqlstreams
