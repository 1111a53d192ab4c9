// The installation: its shared tables and their version.

#include "storage/postgres/migrations.hpp"
#include "storage/postgres/postgres_session.hpp"
#include "storage/postgres/table_names.hpp"

namespace sqlstreams {
namespace {

std::optional<system_info> read_system(statements& on,
                                       const std::string& schema) {
  // $1 schema
  static constexpr const char* exists = R"sql(
    /* find system */
    SELECT FROM pg_catalog.pg_tables
    WHERE schemaname OPERATOR(pg_catalog.=) $1
      AND tablename OPERATOR(pg_catalog.=) 'migration_log'
  )sql";
  static constexpr std::string_view version = R"sql(
    /* find system: version */
    SELECT version, oldest_compatible FROM {schema}.migration_log
    WHERE scope = 'system' ORDER BY id DESC LIMIT 1
  )sql";
  if (on.run(exists, schema).empty())
    return std::nullopt;
  const auto rows = on.run(named(version, schema));
  if (rows.empty())
    return std::nullopt;
  const system_info found{rows[0]["version"].as<int>()};
  if (auto refusal = check_schema_version(
        found.version, rows[0]["oldest_compatible"].as<int>(),
        "schema " + schema))
    throw *refusal;
  return found;
}

void create_schema(statements& on, const std::string& schema) {
  // $1 schema
  static constexpr const char* rights = R"sql(
    /* register system: rights */
    SELECT (SELECT pg_catalog.has_schema_privilege(oid, 'CREATE')
            FROM pg_catalog.pg_namespace
            WHERE nspname OPERATOR(pg_catalog.=) $1) AS in_schema,
           pg_catalog.has_database_privilege(
             pg_catalog.current_database(), 'CREATE') AS in_database,
           pg_catalog.quote_ident(CURRENT_USER::pg_catalog.text) AS who,
           pg_catalog.quote_ident(
             pg_catalog.current_database()::pg_catalog.text) AS database
  )sql";
  const auto row = on.run(rights, schema)[0];
  const auto who = row["who"].as<std::string>();
  if (!row["in_schema"].is_null()) {
    if (!row["in_schema"].as<bool>())
      throw error{code::schema_creation_denied,
                  "role " + who + " may create nothing in schema " + schema,
                  "GRANT CREATE, USAGE ON SCHEMA " + schema + " TO " + who
                    + ";"};
    return;
  }
  const auto database = row["database"].as<std::string>();
  if (!row["in_database"].as<bool>())
    throw error{code::schema_creation_denied,
                "role " + who + " may not create schema " + schema
                  + " in database " + database,
                "GRANT CREATE ON DATABASE " + database + " TO " + who
                  + "; or create the schema for the role."};
  on.script(named("/* register system */ CREATE SCHEMA {schema}", schema));
}

} // namespace

std::optional<system_info> postgres_session::find_system() {
  return connection_.transact(
    [&](statements& on) { return read_system(on, schema_); });
}

system_registration postgres_session::register_system() {
  // Found without a lock if it is there; else under the lock, so that of many
  // processes that start at once one creates it and the others find it.
  return connection_.transact_repeatable([&](statements& on) {
    if (const auto found = read_system(on, schema_))
      return system_registration{registration_effect::unchanged, *found};
    on.begin(
      std::string{statements::begin_read_committed}
      + sql("; /* register system: lock */"
            " SELECT pg_catalog.pg_advisory_xact_lock({lock_class}, 0)"));
    if (const auto found = read_system(on, schema_))
      return system_registration{registration_effect::unchanged, *found};
    create_schema(on, schema_);
    on.script(sql(migration_sql("system")));
    // $1 version, $2 oldest version of a build
    on.run(sql("/* register system: log */ INSERT INTO {schema}.migration_log"
               " (scope, version, oldest_compatible)"
               " VALUES ('system', $1, $2)"),
           schema_version_of_build, oldest_compatible_version);
    on.commit();
    return system_registration{registration_effect::created,
                               {schema_version_of_build}};
  });
}

} // namespace sqlstreams
