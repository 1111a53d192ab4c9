#pragma once

#include "storage/store.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sqlstreams {

/// What the sessions of an in-memory installation share; private to
/// storage/memory.
struct memory_state;

/// An open transaction that has drawn ids: what a slow producer looks like to
/// everybody else. Rolls back when destroyed unfinished.
class memory_transaction {
public:
  explicit memory_transaction(std::shared_ptr<memory_state> state,
                              stream_id stream);
  ~memory_transaction();
  memory_transaction(const memory_transaction&) = delete;
  memory_transaction& operator=(const memory_transaction&) = delete;

  /// Draws ids for messages without making them visible. An idempotency key
  /// that another open transaction has used counts as used: nobody waits here.
  /// @pre neither committed nor rolled back
  std::vector<produced> produce(const std::vector<new_message>& messages);
  void commit();
  void rollback();

private:
  std::shared_ptr<memory_state> state_;
  stream_id stream_;
  std::uint64_t number_; ///< names the transaction among the open ones
};

/// An installation in the memory of this process: the store of simulations and
/// the model that the PostgreSQL one is checked against. Its clock is handed
/// in; tokens come from the seed. Not thread-safe, its sessions neither: use
/// all from one thread.
class memory_database : public store_factory {
public:
  using clock = std::function<timestamp()>;

  explicit memory_database(clock now, std::uint64_t seed = 1);
  ~memory_database() override;

  std::unique_ptr<store> open() override;

  /// Begins a producer transaction that stays open.
  std::unique_ptr<memory_transaction> begin(stream_id stream);

  /// Drops a stream's messages up to this id, as retention would.
  void drop_messages(stream_id stream, message_id last);

private:
  std::shared_ptr<memory_state> state_;
};

} // namespace sqlstreams
