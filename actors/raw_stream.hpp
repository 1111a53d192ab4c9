#pragma once
// Streams without types: what the typed handles of client.hpp, the command line
// and TOML nodes are made of. Handles do no I/O, are cheap to copy and may be
// used from any thread; they outlive their client, but then every call throws
// shutting_down. Any call may throw `error`: what the database says, no_answer
// (the deadline passed; it may have been done), overloaded, shutting_down.

#include "actors/consumption.hpp"
#include "actors/delivery.hpp"
#include "actors/transactions.hpp"
#include "config/consume_options.hpp"
#include "config/consumer_config.hpp"
#include "config/producer_config.hpp"
#include "config/stream_config.hpp"
#include "storage/claim.hpp"
#include "storage/message.hpp"
#include "storage/registration.hpp"
#include "storage/settlement.hpp"

#include <cstddef>
#include <future>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace sqlstreams {

class client_core;

/// Produces into one stream. Copies share one producer, which ends with the
/// last of them, after what is in flight.
class raw_producer {
public:
  raw_producer(std::shared_ptr<client_core> core, stream_info stream,
               const producer_config& config);

  /// Produces one message; messages of concurrent callers share transactions.
  /// @throws error payload_not_json, text_has_nul, invalid_utf8,
  ///   payload_too_large, key_required, invalid_header, invalid_schema_version:
  ///   nothing was sent
  produced produce(new_message message) const;

  /// Likewise without waiting.
  [[nodiscard]] std::future<produced> produce_async(new_message message) const;

  /// Produces messages in one transaction of their own: all or none.
  /// @returns one entry a message, in order
  /// @throws error likewise; names the message at fault
  std::vector<produced> produce_batch(std::vector<new_message> messages) const;

  /// Runs `work` and produces in the same transaction, on the caller's thread
  /// and a connection of the client's own.
  /// @throws as transactions::run; error invalid_option without PostgreSQL
  std::vector<produced> produce_with(std::vector<new_message> messages,
                                     const transaction_work& work) const;

  /// Produces in the caller's transaction: visible when that commits. Holds the
  /// stream's consumers up until then, so keep it short.
  std::vector<produced> produce_in_tx(pqxx::transaction_base& transaction,
                                      std::vector<new_message> messages) const;

  [[nodiscard]] const stream_info& stream() const noexcept;

private:
  struct state;
  std::shared_ptr<state> state_;
};

/// How an instance of a group consumes, besides `consume_options`.
struct consume_run {
  consume_options options{};
  int schema_version = 1;       ///< of the payloads the handler understands
  std::size_t max_messages = 0; ///< ends after so many; 0: never
  std::string instance{};       ///< unique among live ones; empty: made up
};

/// A registered group, ready to be consumed.
class raw_consumer {
public:
  raw_consumer(std::shared_ptr<client_core> core, stream_info stream,
               group_registration registration);

  /// Handles messages until `stop` is asked for or max_messages is reached,
  /// then ends in order (see consumption::stop).
  /// @throws error what ended it otherwise
  session_totals consume(message_handler handler, consume_run run = {},
                         std::stop_token stop = {}) const;

  /// Likewise in the background.
  /// @throws error keyed_policy_unsupported, invalid_option
  [[nodiscard]] consumption start(message_handler handler,
                                  consume_run run = {}) const;

  /// What the registration did.
  [[nodiscard]] const group_registration& registration() const noexcept;
  [[nodiscard]] const stream_info& stream() const noexcept;

private:
  std::shared_ptr<client_core> core_;
  stream_info stream_;
  group_registration registration_;
};

/// A consumer group by name.
class raw_group {
public:
  raw_group(std::shared_ptr<client_core> core, std::string stream,
            std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns the registered group; empty if it or its stream is absent.
  [[nodiscard]] std::optional<group_info> get() const;

  /// Declares the group. Its position stays if it exists; its settings are
  /// replaced by the whole of `config`.
  /// @throws error stream_not_found, invalid_name, reserved_name,
  ///   invalid_option
  raw_consumer register_group(const consumer_config& config = {}) const;

  /// Takes the group as it is registered.
  /// @throws error stream_not_found, group_not_found
  [[nodiscard]] raw_consumer open() const;

  /// Returns where the group stands.
  /// @throws error stream_not_found, group_not_found
  [[nodiscard]] group_lag lag() const;

  /// Returns exceptions above `after`, by id.
  /// @throws error stream_not_found, group_not_found
  [[nodiscard]] std::vector<exception_row>
  exceptions(std::optional<exception_status> status = {}, message_id after = 0,
             std::size_t limit = 100) const;

  /// Returns the history of one message, oldest first.
  /// @throws error stream_not_found, group_not_found
  [[nodiscard]] std::vector<history_row> history(message_id id) const;

private:
  std::shared_ptr<client_core> core_;
  std::string stream_;
  std::string name_;
};

/// A stream by name.
class raw_stream {
public:
  raw_stream(std::shared_ptr<client_core> core, std::string name);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Returns the registered stream; empty if it is absent.
  [[nodiscard]] std::optional<stream_info> get() const;

  /// Declares the stream; the whole of `config` counts.
  /// @throws error invalid_name, reserved_name, invalid_option,
  ///   partition_size_differs
  stream_registration register_stream(const stream_config& config = {}) const;

  /// Starts a producer.
  /// @throws error stream_not_found, invalid_option
  [[nodiscard]] raw_producer
  register_producer(const producer_config& config = {}) const;

  /// Returns a group's handle.
  [[nodiscard]] raw_group consumer(std::string group) const;

  /// Returns the groups of the stream, by name.
  /// @throws error stream_not_found
  [[nodiscard]] std::vector<group_info> groups() const;

  /// Reads messages without a group. Go on from the result's position.
  /// @throws error stream_not_found
  [[nodiscard]] read_result read(read_position from = {},
                                 std::size_t limit = 100) const;

private:
  std::shared_ptr<client_core> core_;
  std::string name_;
};

} // namespace sqlstreams
