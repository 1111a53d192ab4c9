#pragma once
// The client: typed handles over streams. What they do and throw is said at
// their untyped counterparts in raw_stream.hpp.

#include "actors/node_options.hpp"
#include "actors/raw_stream.hpp"
#include "actors/stop_signals.hpp"
#include "actors/typed_message.hpp"
#include "storage/store.hpp"

#include <future>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace sqlstreams {

class node;

/// Produces values of one type into a stream.
template <class T>
class producer_handle {
  static_assert(typed_payload<T>, "raw_payload cannot be produced: declare the "
                                  "stream with the type of its messages");

public:
  explicit producer_handle(raw_producer raw) : raw_{std::move(raw)} {}

  /// Produces a value and waits until it is committed.
  produced produce(const T& value, produce_options options = {}) const {
    return raw_.produce(encode(value, std::move(options)));
  }

  /// Likewise without waiting.
  [[nodiscard]] std::future<produced>
  produce_async(const T& value, produce_options options = {}) const {
    return raw_.produce_async(encode(value, std::move(options)));
  }

  /// Produces values in one transaction: all or none.
  std::vector<produced>
  produce_batch(std::span<const T> values,
                const produce_options& options = {}) const {
    return raw_.produce_batch(encode_all(values, options));
  }
  std::vector<produced>
  produce_batch(const std::vector<T>& values,
                const produce_options& options = {}) const {
    return produce_batch(std::span<const T>{values}, options);
  }

  /// Likewise with options for each.
  std::vector<produced>
  produce_batch(const std::vector<outgoing<T>>& values) const {
    std::vector<new_message> messages;
    messages.reserve(values.size());
    for (const auto& value : values)
      messages.push_back(encode(value.payload, value.options));
    return raw_.produce_batch(std::move(messages));
  }

  /// Runs `work` and produces the value in the same transaction.
  produced produce_with(const T& value, const transaction_work& work,
                        produce_options options = {}) const {
    return raw_.produce_with({encode(value, std::move(options))}, work).at(0);
  }

  /// Produces in the caller's transaction.
  produced produce_in_tx(pqxx::transaction_base& transaction, const T& value,
                         produce_options options = {}) const {
    return raw_.produce_in_tx(transaction, {encode(value, std::move(options))})
      .at(0);
  }

  [[nodiscard]] const stream_info& stream() const noexcept {
    return raw_.stream();
  }

private:
  static std::vector<new_message> encode_all(std::span<const T> values,
                                             const produce_options& options) {
    std::vector<new_message> messages;
    messages.reserve(values.size());
    for (const auto& value : values)
      messages.push_back(encode(value, options));
    return messages;
  }

  raw_producer raw_;
};

/// One instance of a registered group, for values of one type.
template <class T>
class consumer_instance {
  static_assert(typed_payload<T>, "raw_payload cannot be consumed: declare the "
                                  "stream with the type of its messages");

public:
  explicit consumer_instance(raw_consumer raw) : raw_{std::move(raw)} {}

  /// Handles messages until `stop` is asked for.
  session_totals consume(typed_handler<T> handler, consume_options options = {},
                         std::stop_token stop = {}) const {
    return raw_.consume(decoding<T>(std::move(handler)),
                        run_with(std::move(options)), std::move(stop));
  }

  /// Likewise in the background.
  [[nodiscard]] consumption start(typed_handler<T> handler,
                                  consume_options options = {}) const {
    return raw_.start(decoding<T>(std::move(handler)),
                      run_with(std::move(options)));
  }

  /// What the registration did.
  [[nodiscard]] const group_registration& registration() const noexcept {
    return raw_.registration();
  }

private:
  static consume_run run_with(consume_options options) {
    static_assert(schema_version_of<T>::value >= 1,
                  "schema_version must be at least 1");
    consume_run run;
    run.options = std::move(options);
    run.schema_version = schema_version_of<T>::value;
    return run;
  }

  raw_consumer raw_;
};

/// A consumer group by name.
template <class T>
class group_handle {
public:
  explicit group_handle(raw_group raw) : raw_{std::move(raw)} {}

  [[nodiscard]] std::optional<group_info> get() const { return raw_.get(); }
  [[nodiscard]] group_lag lag() const { return raw_.lag(); }

  /// See raw_group::exceptions.
  [[nodiscard]] std::vector<exception_row>
  exceptions(std::optional<exception_status> status = {}, message_id after = 0,
             std::size_t limit = 100) const {
    return raw_.exceptions(status, after, limit);
  }

  /// Declares the group.
  consumer_instance<T>
  register_group(const consumer_config& config = {}) const {
    return consumer_instance<T>{raw_.register_group(config)};
  }

  /// Takes the group as it is registered.
  [[nodiscard]] consumer_instance<T> open() const {
    return consumer_instance<T>{raw_.open()};
  }

  /// Returns the same without its type.
  [[nodiscard]] const raw_group& raw() const noexcept { return raw_; }

private:
  raw_group raw_;
};

/// A stream of values of one type, by name.
template <class T>
class stream_handle {
public:
  explicit stream_handle(raw_stream raw) : raw_{std::move(raw)} {}

  [[nodiscard]] const std::string& name() const noexcept { return raw_.name(); }
  [[nodiscard]] std::optional<stream_info> get() const { return raw_.get(); }

  /// Declares the stream.
  stream_registration register_stream(const stream_config& config = {}) const {
    return raw_.register_stream(config);
  }

  /// Starts a producer.
  [[nodiscard]] producer_handle<T>
  register_producer(const producer_config& config = {}) const {
    return producer_handle<T>{raw_.register_producer(config)};
  }

  /// Returns a group's handle.
  [[nodiscard]] group_handle<T> consumer(std::string group) const {
    return group_handle<T>{raw_.consumer(std::move(group))};
  }

  /// Reads messages, as stored, without a group.
  [[nodiscard]] read_result read(read_position from = {},
                                 std::size_t limit = 100) const {
    return raw_.read(std::move(from), limit);
  }

  /// Returns the same without its type.
  [[nodiscard]] const raw_stream& raw() const noexcept { return raw_; }

private:
  raw_stream raw_;
};

/// A connection to an installation and the way to all of its streams. Owns a
/// node; ends it, with all sessions and producers, when destroyed. Thread-safe.
class client {
public:
  /// Connects now. On a database without an installation its tables are made
  /// (see node_options::register_system).
  /// @throws error what node's constructor throws
  explicit client(node_options options);

  /// The same over a store that does not block (storage/memory). Transactions
  /// of the application need PostgreSQL and are refused.
  client(const std::shared_ptr<store_factory>& factory, node_options options);

  ~client();
  client(client&&) noexcept;
  client& operator=(client&&) noexcept;

  /// Returns a stream's handle; no I/O.
  template <class T>
  [[nodiscard]] stream_handle<T> stream(std::string name) const {
    return stream_handle<T>{stream(std::move(name))};
  }

  /// Returns a handle without a type.
  [[nodiscard]] raw_stream stream(std::string name) const;

  /// Returns all registered streams, by name.
  [[nodiscard]] std::vector<stream_info> streams() const;

  /// Returns the installation; empty if the database has none.
  [[nodiscard]] std::optional<system_info> system() const;

  /// Makes the installation's tables, or finds them.
  system_registration register_system() const;

  /// Runs `work` in a transaction of the client's own connections and commits;
  /// use `produce_in_tx` inside. See transactions::run.
  void transaction(const transaction_work& work) const;

  /// Ends all sessions, producers and the node; repeating it does nothing.
  void close() noexcept;

  /// Returns the node underneath, for users of its actors.
  [[nodiscard]] sqlstreams::node& node() const;

private:
  std::shared_ptr<client_core> core_;
};

} // namespace sqlstreams
