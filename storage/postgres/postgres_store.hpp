#pragma once

#include "storage/store.hpp"

#include <memory>
#include <string>

namespace sqlstreams {

/// Where an installation lives.
struct postgres_options {
  std::string url;                   ///< anything libpq takes
  std::string schema = "sqlstreams"; ///< of all our tables and functions
  std::string application_name = "sqlstreams"; ///< seen in pg_stat_activity
};

/// Opens sessions on a PostgreSQL server, version 15 or newer; each has one
/// connection, made at its first call and made anew after a loss. Thread-safe.
/// @throws error invalid_database_url, invalid_name (schema)
std::shared_ptr<store_factory> make_postgres_factory(postgres_options options);

} // namespace sqlstreams
