#pragma once

#include "actors/consume_spec.hpp"
#include "actors/consumption.hpp"
#include "actors/node_options.hpp"
#include "config/producer_config.hpp"
#include "storage/store.hpp"

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <memory>

namespace sqlstreams {

/// One process of an installation: an actor system with storage pool and
/// registrar, and whatever is started on it. Owns all of them. Thread-safe
/// except for construction and destruction.
class node {
public:
  /// Connects now, and makes the installation's tables if they are missing
  /// (see node_options::register_system). `options.stop` ends that early.
  /// @throws error invalid_database_url, database_unreachable,
  ///   authentication_failed, schema_older_than_build,
  ///   schema_newer_than_build, schema_creation_denied, invalid_option,
  ///   shutting_down
  explicit node(node_options options);

  /// The same over a store that does not block (storage/memory): all calls are
  /// made by one actor over one session.
  node(const std::shared_ptr<store_factory>& factory, node_options options);

  /// Stops.
  ~node();
  node(const node&) = delete;
  node& operator=(const node&) = delete;

  [[nodiscard]] caf::actor_system& system() noexcept;
  [[nodiscard]] const caf::actor& storage() const noexcept;
  [[nodiscard]] const caf::actor& registrar() const noexcept;
  [[nodiscard]] const node_options& options() const noexcept;

  /// Returns how long a request to storage or registrar may take, all attempts
  /// included.
  [[nodiscard]] std::chrono::nanoseconds deadline() const noexcept;

  /// Starts a producer. It ends with the node, or earlier by send_exit.
  /// @throws error invalid_option; shutting_down
  caf::actor start_producer(stream_info stream, const producer_config& config);

  /// Starts a consumer instance. An empty instance name and the default seed
  /// are replaced by ones of this node. It ends with the node, or earlier by
  /// its `consumption`.
  /// @throws error keyed_policy_unsupported, invalid_option; shutting_down
  consumption start_consuming(consume_spec spec);

  /// Ends everything in reverse order of starting: sessions drain within their
  /// `shutdown_timeout`, producers within their `shutdown_grace`, then storage.
  /// Repeating it does nothing. Calls to the server that are still in flight
  /// after two more seconds are interrupted; those who asked hear that nobody
  /// knows.
  void stop() noexcept;

  /// Ends storage alone, without waiting: who asks it or waits for it hears so
  /// within seconds, also if the server does not answer. For an end in the
  /// middle of preparations; nothing but `stop` is of use then.
  void give_up_calls() noexcept;

  /// Returns whether `stop` has been called.
  [[nodiscard]] bool stopped() const noexcept;

private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

} // namespace sqlstreams
