#pragma once
// What a conformance case starts from, the same for both stores.

#include "storage/memory/memory_store.hpp"
#include "storage/store.hpp"
#include "tests/support/builders.hpp"
#include "tests/support/test_database.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace sqlstreams::test {

/// Outlives any test.
inline constexpr std::chrono::nanoseconds long_lease = std::chrono::hours{1};

/// A producer whose transaction stays open until it is told to end it.
class slow_producer {
public:
  virtual ~slow_producer() = default;

  /// Draws ids for messages that nobody else sees yet.
  virtual std::vector<produced>
  produce(const std::vector<new_message>& messages) = 0;
  virtual void commit() = 0;
  virtual void rollback() = 0;
};

/// An installation with one stream and one group, both with defaults.
class store_fixture {
public:
  store_fixture(const store_fixture&) = delete;
  store_fixture& operator=(const store_fixture&) = delete;
  virtual ~store_fixture() = default;

private:
  std::unique_ptr<sqlstreams::store> session_;

public:
  sqlstreams::store& store; ///< the first session
  stream_info stream;
  group_info group;

  /// Opens a session as another process would.
  virtual std::unique_ptr<sqlstreams::store> another_session() = 0;

  /// Opens a session of a place where nothing is installed.
  virtual std::unique_ptr<sqlstreams::store> empty_place() = 0;

  /// Begins a transaction that produces into `stream`.
  virtual std::unique_ptr<slow_producer> open_producer() = 0;

  /// Drops a stream's partitions up to the one of this id, as retention would.
  /// @returns the last id that is gone
  virtual message_id drop_partitions(const stream_info& of, message_id id) = 0;

  /// Registers a stream.
  stream_info add_stream(const std::string& name, stream_config config = {});

  /// Declares a group of `stream`; what follows is about it.
  group_registration use_group(const std::string& name,
                               consumer_config config = {});

  // Calls of `store` about `stream` and `group`, with plain defaults. A lease
  // of no time is over at once: its holder vanished.

  std::vector<produced> produce(const std::vector<new_message>& messages);
  std::vector<produced> produce(std::size_t count);
  claim_result claim(std::size_t limit = 100,
                     std::chrono::nanoseconds lease = long_lease);
  reclaim_result reclaim(std::chrono::nanoseconds lease = long_lease);
  settle_result settle(range_settlement range);
  settle_result settle(exception_settlement run);

  /// All of a range has ended.
  settle_result finish(const claimed_range& range,
                       std::vector<exception_entry> exceptions = {});
  exception_claim_result
  claim_exceptions(std::size_t limit = 100,
                   std::chrono::nanoseconds lease = long_lease,
                   budget_bounds budget = {});
  std::vector<message_id> kill_exhausted(budget_bounds budget = {});
  std::vector<exception_row> exceptions();
  group_lag lag();

  /// The history of a message, as "failure:0 expired:1".
  std::string history_of(message_id id);

  int schema_version = 1; ///< of the claims
  delivery_log_mode history = delivery_log_mode::failures;

protected:
  explicit store_fixture(std::unique_ptr<sqlstreams::store> session);
};

/// Comes before the sessions that work on it, and goes after them.
class memory_place {
protected:
  memory_place();

  timestamp now_; ///< of no real clock; a little later at each look
  memory_database database_;
};

class memory_fixture : memory_place, public store_fixture {
public:
  memory_fixture();
  std::unique_ptr<sqlstreams::store> another_session() override;
  std::unique_ptr<sqlstreams::store> empty_place() override;
  std::unique_ptr<slow_producer> open_producer() override;
  message_id drop_partitions(const stream_info& of, message_id id) override;
};

class postgres_place {
protected:
  postgres_place();

  fresh_schema schema_;
  fresh_schema empty_schema_;
  std::shared_ptr<store_factory> factory_;
};

class postgres_fixture : postgres_place, public store_fixture {
public:
  postgres_fixture();
  std::unique_ptr<sqlstreams::store> another_session() override;
  std::unique_ptr<sqlstreams::store> empty_place() override;
  std::unique_ptr<slow_producer> open_producer() override;
  message_id drop_partitions(const stream_info& of, message_id id) override;
};

} // namespace sqlstreams::test
