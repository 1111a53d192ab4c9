#pragma once

#include "storage/postgres/postgres_store.hpp"

#include <string>

namespace sqlstreams {

/// Returns the address as key/value pairs for libpq, completed where it says
/// nothing: 5 s to connect, TCP keepalives that notice a dead peer within half
/// a minute, the application's name, UTF-8. Everything else stays as given,
/// `target_session_attrs` too. Sets no server parameters at start-up that a
/// transaction-mode pooler would refuse.
/// @throws error invalid_database_url
std::string connection_settings(const postgres_options& options);

/// Asks the server why it refuses to be connected to.
/// @param settings as above
/// @returns the SQLSTATE; empty if none was given (nobody answers, TLS fails)
std::string refusal_sqlstate(const std::string& settings);

} // namespace sqlstreams
