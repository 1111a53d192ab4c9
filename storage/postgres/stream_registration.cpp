// Streams: declaring and finding them.

#include "config/names.hpp"
#include "config/options_json.hpp"
#include "storage/postgres/delivered_rows.hpp"
#include "storage/postgres/migrations.hpp"
#include "storage/postgres/postgres_session.hpp"
#include "storage/postgres/table_names.hpp"

namespace sqlstreams {
namespace {

stream_info stream_from(const pqxx::row& row) {
  stream_info out;
  out.id = row["id"].as<stream_id>();
  out.name = row["name"].as<std::string>();
  out.config = stream_config_from_text(row["config"].as<std::string>(),
                                       unknown_fields::ignore);
  out.created_at = timestamp_from(row["created_us"].as<std::int64_t>());
  return out;
}

/// One transaction that declares a stream; each step is a statement.
class stream_declaration {
public:
  stream_declaration(statements& on, const std::string& schema,
                     const stream_declaration_request& request)
    : on_{on}, schema_{schema}, request_{request}, document_{to_json_text(
                                                     request.config)} {}

  stream_registration run() {
    // One declaration at a time in the installation: of many first ones the
    // first makes the stream and the others find it.
    on_.begin(
      std::string{statements::begin_read_committed}
      + named("; /* register stream: lock */"
              " SELECT pg_catalog.pg_advisory_xact_lock({lock_class}, 0)",
              schema_));
    // $1 name
    const auto rows = on_.run(named(R"sql(
        /* register stream: find */
        SELECT id, name, config, partition_size,
               (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
                 AS created_us
        FROM {schema}.stream_config WHERE name = $1
      )sql",
                                    schema_),
                              request_.name);
    auto out = rows.empty() ? create() : update(rows[0]);
    if (out.effect != registration_effect::unchanged)
      on_.commit();
    return out;
  }

private:
  stream_registration create() {
    const auto size = request_.config.with_defaults().partition_size;
    // $1 name, $2 document, $3 ids per partition
    const auto rows = on_.run(named(R"sql(
        /* register stream: create */
        INSERT INTO {schema}.stream_config (name, config, partition_size)
        VALUES ($1, $2::jsonb, $3)
        RETURNING id, name, config,
          (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
            AS created_us
      )sql",
                                    schema_),
                              request_.name, document_, size);
    stream_registration out{
      registration_effect::created, stream_from(rows[0]), {}};
    const auto id = out.stream.id;
    on_.script(named(migration_sql("stream"), table_names{schema_, id, size}));
    // $1 stream, $2 version, $3 oldest version of a build
    on_.run(named(R"sql(
              /* register stream: log migration */
              INSERT INTO {schema}.migration_log
                (scope, stream_id, version, oldest_compatible)
              SELECT 'stream', $1, $2, $3
              FROM {schema}.ensure_partition($1, 1)
            )sql",
                  schema_),
            id, schema_version_of_build, oldest_compatible_version);
    log(id);
    return out;
  }

  stream_registration update(const pqxx::row& row) {
    auto stored = stream_from(row);
    const auto size = row["partition_size"].as<std::int64_t>();
    const auto declared = request_.config.with_defaults().partition_size;
    if (size != declared)
      throw error{code::partition_size_differs,
                  "stream \"" + request_.name + "\" has partition_size "
                    + std::to_string(size) + ", declared is "
                    + std::to_string(declared)};
    if (stored.config == request_.config)
      return {registration_effect::unchanged, std::move(stored), {}};
    auto changes = describe_changes(stored.config, request_.config);
    // $1 stream, $2 document
    on_.run(named(R"sql(
              /* register stream: update */
              UPDATE {schema}.stream_config
              SET config = $2::jsonb, updated_at = pg_catalog.now()
              WHERE id = $1
            )sql",
                  schema_),
            stored.id, document_);
    log(stored.id);
    stored.config = request_.config;
    return {registration_effect::updated, std::move(stored),
            std::move(changes)};
  }

  void log(stream_id id) {
    // $1 stream, $2 document, $3 who
    on_.run(named(R"sql(
              /* register stream: log */
              INSERT INTO {schema}.stream_config_log
                (stream_id, config, declared_by)
              VALUES ($1, $2::jsonb, $3)
            )sql",
                  schema_),
            id, document_, request_.declared_by);
  }

  statements& on_;
  const std::string& schema_;
  const stream_declaration_request& request_;
  std::string document_;
};

/// What would let ids be skipped (rule 1 of design page 06).
void check_sequence(statements& on, const std::string& schema,
                    const stream_info& stream) {
  // The default is found by what it depends on: its text depends on
  // search_path. $1 sequence, $2 table, $3 function
  const auto rows =
    on.run(named(R"sql(
      /* find stream: sequence */
      SELECT s.seqcache AS cache, s.seqincrement AS step, s.seqcycle AS cycle,
             EXISTS (
               SELECT FROM pg_catalog.pg_attrdef AS d
               JOIN pg_catalog.pg_attribute AS a
                 ON a.attrelid = d.adrelid AND a.attnum = d.adnum
               JOIN pg_catalog.pg_depend AS p
                 ON p.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass
                AND p.objid = d.oid
                AND p.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass
                AND p.refobjid = pg_catalog.to_regprocedure($3)
               WHERE d.adrelid = pg_catalog.to_regclass($2)
                 AND a.attname = 'id') AS ours,
             (SELECT c.lock_class FROM {schema}.system_config AS c)
               AS lock_class
      FROM pg_catalog.pg_sequence AS s
      WHERE s.seqrelid = pg_catalog.to_regclass($1)
    )sql",
                 schema),
           named("{schema}.message_log_{stream}_id_seq", schema, stream.id),
           named("{schema}.message_log_{stream}", schema, stream.id),
           named("{schema}.next_message_id_{stream}()", schema, stream.id));
  const auto refuse = [&](const std::string& what) {
    throw error{code::sequence_unsafe,
                "stream \"" + stream.name + "\": " + what};
  };
  if (rows.empty())
    refuse("its sequence is missing");
  const auto row = rows[0];
  if (row["cache"].as<std::int64_t>() != 1)
    refuse("its sequence has CACHE " + row["cache"].as<std::string>());
  if (row["step"].as<std::int64_t>() < 1 || row["cycle"].as<bool>())
    refuse("its sequence does not ascend for ever");
  if (!row["ours"].as<bool>())
    refuse("the default of message_log_" + std::to_string(stream.id)
           + ".id is not next_message_id_" + std::to_string(stream.id) + "()");
  if (row["lock_class"].as<std::int32_t>() != lock_class(schema))
    refuse("the installation was made under another schema name: its lock "
           "class is "
           + row["lock_class"].as<std::string>());
}

/// The version gate of a stream's own tables.
void check_version(const pqxx::row& row, const stream_info& stream) {
  if (auto refusal = check_schema_version(row["version"].as<int>(0),
                                          row["oldest_compatible"].as<int>(0),
                                          "stream \"" + stream.name + '"'))
    throw *refusal;
}

constexpr std::string_view select_streams = R"sql(
  /* find streams */
  SELECT s.id, s.name, s.config, m.version, m.oldest_compatible,
         (pg_catalog.date_part('epoch', s.created_at) * 1000000)::bigint
           AS created_us
  FROM {schema}.stream_config AS s
  LEFT JOIN LATERAL (
    SELECT l.version, l.oldest_compatible FROM {schema}.migration_log AS l
    WHERE l.scope = 'stream' AND l.stream_id = s.id
    ORDER BY l.id DESC LIMIT 1) AS m ON true
  WHERE $1::text IS NULL OR s.name = $1::text
  ORDER BY s.name COLLATE "C"
)sql";

} // namespace

stream_registration
postgres_session::register_stream(const stream_declaration_request& request) {
  validate_name(name_kind::stream, request.name);
  validate_or_throw(request.config, "stream " + request.name);
  return connection_.transact_repeatable([&](statements& on) {
    return stream_declaration{on, schema_, request}.run();
  });
}

std::optional<stream_info>
postgres_session::find_stream(std::string_view name) {
  // $1 name
  return connection_.transact(
    [&](statements& on) -> std::optional<stream_info> {
      const auto rows = on.run(sql(select_streams), std::string{name});
      if (rows.empty())
        return std::nullopt;
      auto found = stream_from(rows[0]);
      check_version(rows[0], found);
      check_sequence(on, schema_, found);
      return found;
    });
}

std::vector<stream_info> postgres_session::list_streams() {
  // $1 null: all
  return connection_.transact([&](statements& on) {
    const char* all = nullptr;
    std::vector<stream_info> out;
    for (const auto& row : on.run(sql(select_streams), all))
      out.push_back(stream_from(row));
    return out;
  });
}

} // namespace sqlstreams
