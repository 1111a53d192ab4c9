#include "apps/demo/demo_database.hpp"

#include "apps/dev_server/work_folder.hpp"

#include <fmt/format.h>
#include <libpq-fe.h>

#include <exception>
#include <iostream>
#include <memory>
#include <random>

namespace sqlstreams::demo {

namespace {

std::string fresh_schema_name() {
  std::random_device draw;
  return fmt::format("sqlstreams_demo_{:08x}", draw());
}

void drop_schema(const std::string& url, const std::string& schema) {
  using connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;
  using result = std::unique_ptr<PGresult, decltype(&PQclear)>;
  const connection to{PQconnectdb(url.c_str()), &PQfinish};
  // Bounded: whoever still looks into the schema must not hold up the end.
  const auto drop =
    "SET client_min_messages = error; SET lock_timeout = '10s'; "
    "DROP SCHEMA IF EXISTS "
    + schema + " CASCADE";
  const result done{PQexec(to.get(), drop.c_str()), &PQclear};
  if (PQresultStatus(done.get()) != PGRES_COMMAND_OK)
    std::cerr << "demo: schema " << schema
              << " is left behind: " << PQerrorMessage(to.get());
}

} // namespace

demo_database::demo_database(std::string given,
                             const std::filesystem::path& work)
  : url_{std::move(given)} {
  if (!url_.empty()) {
    schema_ = fresh_schema_name();
    return;
  }
  server_.emplace(private_server_options{.folder = server_folder(work)});
  try {
    server_->start();
    url_ = server_->url();
  } catch (...) {
    server_->destroy();
    throw;
  }
}

std::string demo_database::description() const {
  if (!server_)
    return "schema " + schema_ + " on the given server";
  const auto status = server_->status();
  return fmt::format("PostgreSQL, process {}, in {}", status.pid.value_or(0),
                     status.folder.string());
}

demo_database::~demo_database() {
  if (kept_)
    return;
  try {
    if (server_)
      server_->destroy();
    else if (in_use_)
      drop_schema(url_, schema_);
  } catch (const std::exception& e) {
    std::cerr << "demo: the private server is left behind: " << e.what()
              << '\n';
  }
}

} // namespace sqlstreams::demo
