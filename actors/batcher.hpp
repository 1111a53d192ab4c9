#pragma once

#include "config/error.hpp"
#include "storage/message.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

/// One produce call: messages that are produced together or not at all.
struct produce_call {
  std::uint64_t number = 0; ///< chosen by the caller, unique among open calls
  std::vector<new_message> messages;
  bool alone = false; ///< shares its transaction with no other call
};

/// The messages of one transaction, and whose they are.
struct produce_batch {
  struct part {
    std::uint64_t call = 0;
    std::size_t first = 0; ///< index of its first message
    std::size_t count = 0;
  };

  std::shared_ptr<const std::vector<new_message>> messages;
  std::vector<part> parts; ///< in the order of the messages
};

struct batcher_limits {
  std::size_t max_size = 100;       ///< messages of a gathered transaction
  std::size_t max_bytes = 8u << 20; ///< of their payloads, likewise
  std::size_t transactions = 4;     ///< in flight at once
  std::size_t max_waiting = 10'000; ///< calls
};

/// Gathers produce calls into transactions. There is no linger: while a
/// transaction may start, whatever waits goes at once; while none may, calls
/// gather. A call larger than the limits goes whole, in a transaction of its
/// own. Pure.
class batcher {
public:
  explicit batcher(const batcher_limits& limits) noexcept : limits_{limits} {}

  /// Queues a call.
  /// @returns false, and leaves it alone, if too many wait
  bool add(produce_call&& call);

  /// Starts the next transaction; it counts as in flight until it is passed to
  /// `succeeded` or `failed`.
  /// @returns empty if none may start or nothing waits
  std::optional<produce_batch> next();

  /// Ends a transaction that was committed.
  void succeeded();

  /// Ends a transaction that failed. If the database refused it for good, so
  /// that it was surely rolled back, the call of the message at fault has
  /// failed, or, if nobody knows which that is, it is narrowed down: the calls
  /// run again in two halves. The others run again before anything that waits.
  /// Every other failure stands for all calls of the transaction: they met it
  /// alike, or some of it may have been done, and again would be twice.
  /// @param refused index of the message at fault, if known
  /// @returns the calls that have failed for good
  std::vector<std::uint64_t> failed(const produce_batch& batch,
                                    const error& failure,
                                    std::optional<std::size_t> refused);

  /// Takes out all calls that are not in flight.
  std::vector<std::uint64_t> drop_waiting();

  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.size(); }

private:
  std::vector<produce_call> gather();
  void run_again(const produce_batch& batch,
                 const std::vector<produce_batch::part>& parts);

  batcher_limits limits_;
  std::deque<produce_call> waiting_;
  std::deque<produce_batch> again_; ///< parts of failed transactions
  std::size_t in_flight_ = 0;
};

} // namespace sqlstreams
