#include "tests/support/test_database.hpp"

#include "apps/dev_server/private_server.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <random>
#include <sstream>

namespace sqlstreams::test {
namespace {

std::string start_private_server() {
  std::istringstream list{SQLSTREAMS_TEST_SERVER_SETTINGS};
  private_server_options options{.folder = SQLSTREAMS_TEST_SERVER};
  for (std::string setting; list >> setting;)
    options.settings.push_back(setting);
  private_server server{std::move(options)};
  server.start();
  return server.url();
}

} // namespace

const std::string& database_url() {
  static const std::string url = [] {
    const char* given = std::getenv("SQLSTREAMS_DATABASE_URL");
    return given && *given ? std::string{given} : start_private_server();
  }();
  return url;
}

fresh_schema::fresh_schema() : name_{"t_"} {
  std::random_device source; // other processes draw names at the same time
  for (int i = 0; i < 12; ++i)
    name_ += "abcdefghijklmnopqrstuvwxyz0123456789"[source() % 36];
}

fresh_schema::~fresh_schema() {
  // A test that failed half-way may have left a transaction that holds locks:
  // the schema then stays, the server's folder is thrown away anyway.
  auto* connection = PQconnectdb(database_url().c_str());
  const auto drop = "SET client_min_messages = error; SET lock_timeout = '5s'; "
                    "DROP SCHEMA IF EXISTS "
                    + name_ + " CASCADE";
  PQclear(PQexec(connection, drop.c_str()));
  PQfinish(connection);
}

} // namespace sqlstreams::test
