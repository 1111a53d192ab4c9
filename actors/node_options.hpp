#pragma once

#include "config/retry_policy.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>

namespace sqlstreams {

/// What a process needs to take part in an installation.
struct node_options {
  /// Anything libpq takes: `postgres://user@host/db` or `host=... dbname=...`.
  std::string url{};
  std::string schema = "sqlstreams"; ///< PostgreSQL schema of the installation
  std::size_t max_connections = 8;   ///< >= 1
  std::string name{};   ///< of this process, for people; empty: host and pid
  retry_policy retry{}; ///< of database calls; unset fields take the defaults
  /// Makes the installation's tables where they are missing, so that a fresh
  /// database just works. Off: such a database is left alone, and what needs
  /// the tables fails with system_not_registered.
  bool register_system = true;
  /// How long to wait for a server that is there but still starting.
  std::chrono::nanoseconds startup_patience = std::chrono::seconds{10};
  /// Asked to stop while it connects, a node is not made: shutting_down.
  std::stop_token stop{};
  std::size_t scheduler_threads = 2; ///< of the logic actors, >= 1
  std::uint32_t seed = 0;            ///< of jitter; 0: a random one
};

} // namespace sqlstreams
