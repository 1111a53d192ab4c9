#pragma once
// What a configuration file declares.

#include "config/consume_options.hpp"
#include "config/consumer_config.hpp"
#include "config/producer_config.hpp"
#include "config/stream_config.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sqlstreams {

/// `[database]`
struct database_config {
  std::string url{}; ///< secrets resolved; empty: not in the file
  std::string schema = "sqlstreams";
  int max_connections = 8;
  retry_policy retry{}; ///< of database calls; sparse
};

/// What a node does when one of its sessions ends by an error.
enum class session_end_action : std::uint8_t {
  restart, ///< starts it again, with growing pauses
  stop,    ///< ends the node with status 1
};

/// Returns "restart" or "stop".
std::string_view to_string(session_end_action value) noexcept;

/// `[node]`
struct node_config {
  std::string name{}; ///< empty: host name and process id
  session_end_action on_session_end = session_end_action::restart;
};

/// Starts a command per message, payload on its standard input.
struct exec_handler {
  std::vector<std::string> command{}; ///< program and arguments; not empty
};

/// Posts each message to a web address.
struct http_handler {
  std::string url{};
};

/// Prints each message.
struct log_handler {};

/// Sends each message to an actor of another program.
struct actor_handler {
  std::string url{};
};

/// Reading a file accepts exec and log; it refuses the others by name.
using handler_declaration =
  std::variant<exec_handler, http_handler, log_handler, actor_handler>;

/// `[streams.NAME.groups.GROUP]`
struct group_declaration {
  std::string name{};
  consumer_config config{};                     ///< sparse
  consume_options consume{};                    ///< sparse
  std::optional<handler_declaration> handler{}; ///< empty: only registered
  int schema_version = 1;
};

/// `[streams.NAME]`
struct stream_declaration {
  std::string name{};
  stream_config config{};                    ///< sparse
  std::optional<producer_config> producer{}; ///< for those who produce with it
  std::vector<group_declaration> groups{};
};

/// A whole file. Streams and groups are in the order of their names.
struct configuration {
  database_config database{};
  node_config node{};
  std::vector<stream_declaration> streams{};
};

/// Returns the configuration as TOML text with all effective values (defaults
/// filled in) and secrets masked. Reading it gives an equal configuration but
/// for the masked secrets.
std::string print_configuration(const configuration& value);

} // namespace sqlstreams
