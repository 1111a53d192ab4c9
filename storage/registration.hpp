#pragma once
// What is declared and what came of it.

#include "config/consumer_config.hpp"
#include "config/stream_config.hpp"
#include "storage/message.hpp"

#include <cstdint>
#include <string>

namespace sqlstreams {

/// What a declaration did. `unchanged` wrote nothing.
enum class registration_effect : std::uint8_t { created, updated, unchanged };

/// Returns "created", "updated" or "unchanged".
std::string_view to_string(registration_effect value);

/// What became of the bindings in a group's declaration.
enum class binding_effect : std::uint8_t {
  none,      ///< declared none, had none: the whole stream
  installed, ///< this declaration's set is now in force
  joined,    ///< the same set was in force already
  waiting,   ///< a live instance declares another set; try again later
};

/// Returns "none", "installed", "joined" or "waiting".
std::string_view to_string(binding_effect value);

/// A registered stream.
struct stream_info {
  stream_id id = 0;
  std::string name{};
  stream_config config{}; ///< as declared, sparse
  timestamp created_at{};
};

/// A registered consumer group.
struct group_info {
  group_id id = 0;
  stream_id stream = 0;
  std::string name{};
  consumer_config config{}; ///< as declared, sparse
  timestamp created_at{};
};

struct stream_declaration_request {
  std::string name;
  stream_config config{};    ///< sparse; unset means default
  std::string declared_by{}; ///< kept in the log of declarations
};

struct stream_registration {
  registration_effect effect = registration_effect::unchanged;
  stream_info stream{};
  std::string changes{}; ///< "retention: 0 -> 30d, ..." if updated
};

struct group_declaration_request {
  stream_id stream = 0;
  std::string name;
  consumer_config config{}; ///< sparse; unset means default
  std::string declared_by{};
};

struct group_registration {
  registration_effect effect = registration_effect::unchanged;
  binding_effect bindings = binding_effect::none;
  group_info group{};
  std::string changes{};
};

/// Versions of the installation, see design page 02 "Migrations".
struct system_info {
  int version = 0; ///< of the shared tables
};

struct system_registration {
  registration_effect effect = registration_effect::unchanged;
  system_info system{};
};

} // namespace sqlstreams
