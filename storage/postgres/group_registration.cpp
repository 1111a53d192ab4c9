// Consumer groups: declaring and finding them.

#include "config/names.hpp"
#include "config/options_json.hpp"
#include "storage/postgres/binding_regex.hpp"
#include "storage/postgres/delivered_rows.hpp"
#include "storage/postgres/message_columns.hpp"
#include "storage/postgres/postgres_session.hpp"
#include "storage/postgres/table_names.hpp"

namespace sqlstreams {
namespace {

group_info group_from(const pqxx::row& row) {
  group_info out;
  out.id = row["id"].as<group_id>();
  out.stream = row["stream_id"].as<stream_id>();
  out.name = row["name"].as<std::string>();
  out.config = consumer_config_from_text(row["config"].as<std::string>(),
                                         unknown_fields::ignore);
  out.created_at = timestamp_from(row["created_us"].as<std::int64_t>());
  return out;
}

binding_effect effect_on_bindings(const std::vector<std::string>& before,
                                  const std::vector<std::string>& declared) {
  if (before.empty() && declared.empty())
    return binding_effect::none;
  return before == declared ? binding_effect::joined
                            : binding_effect::installed;
}

/// One transaction that declares a group; each step is a statement.
class group_declaration {
public:
  group_declaration(statements& on, const std::string& schema,
                    const group_declaration_request& request)
    : on_{on}, schema_{schema}, request_{request}, document_{to_json_text(
                                                     request.config)} {}

  group_registration run() {
    on_.begin(
      std::string{statements::begin_read_committed}
      + named("; /* register group: lock */"
              " SELECT pg_catalog.pg_advisory_xact_lock({lock_class}, 0)",
              schema_));
    check_stream();
    // $1 stream, $2 name
    const auto rows = on_.run(named(R"sql(
        /* register group: find */
        SELECT id, stream_id, name, config,
               (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
                 AS created_us
        FROM {schema}.consumer_group_config
        WHERE stream_id = $1 AND name = $2
      )sql",
                                    schema_),
                              request_.stream, request_.name);
    auto out = rows.empty() ? create() : update(group_from(rows[0]));
    if (out.effect != registration_effect::unchanged)
      on_.commit();
    return out;
  }

private:
  void check_stream() {
    // $1 stream
    const auto rows =
      on_.run(named("/* register group: stream */"
                    " SELECT FROM {schema}.stream_config WHERE id = $1",
                    schema_),
              request_.stream);
    if (rows.empty())
      throw error{code::stream_not_found, "no stream has the number "
                                            + std::to_string(request_.stream)};
  }

  group_registration create() {
    // $1 stream, $2 name, $3 document
    const auto rows = on_.run(named(R"sql(
        /* register group: create */
        INSERT INTO {schema}.consumer_group_config (stream_id, name, config)
        VALUES ($1, $2, $3::jsonb)
        RETURNING id, stream_id, name, config,
          (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
            AS created_us
      )sql",
                                    schema_),
                              request_.stream, request_.name, document_);
    group_registration out;
    out.effect = registration_effect::created;
    out.group = group_from(rows[0]);
    out.bindings = effect_on_bindings({}, request_.config.bindings);
    place_cursor(out.group.id);
    if (out.bindings == binding_effect::installed)
      install_bindings(out.group.id);
    log(out.group.id);
    return out;
  }

  group_registration update(group_info stored) {
    group_registration out;
    out.bindings =
      effect_on_bindings(stored.config.bindings, request_.config.bindings);
    if (stored.config == request_.config) {
      out.group = std::move(stored);
      return out;
    }
    out.effect = registration_effect::updated;
    out.changes = describe_changes(stored.config, request_.config);
    // $1 group, $2 document
    on_.run(named(R"sql(
              /* register group: update */
              UPDATE {schema}.consumer_group_config
              SET config = $2::jsonb, updated_at = pg_catalog.now()
              WHERE id = $1
            )sql",
                  schema_),
            stored.id, document_);
    if (out.bindings == binding_effect::installed)
      install_bindings(stored.id);
    log(stored.id);
    stored.config = request_.config;
    out.group = std::move(stored);
    return out;
  }

  /// Puts the cursor of a new group before the first message it reads.
  void place_cursor(group_id group) {
    const auto position = first_position();
    // $1 group, $2 position. What lies before it is none of the group's.
    on_.run(named(R"sql(
              /* register group: place cursor */
              INSERT INTO {schema}.consumer_group_cursor_{stream}
                (consumer_group_id, claimed, committed, settled_head)
              VALUES ($1, $2, $2, $2)
            )sql",
                  schema_, request_.stream),
            group, position);
  }

  message_id first_position() {
    const auto& start = request_.config.start;
    switch (start.where) {
    case cursor_position::kind::beginning:
      return ask("SELECT {schema}.first_retained({stream}) - 1");
    case cursor_position::kind::head:
      return ask("SELECT coalesce(pg_catalog.max(id), 0)"
                 " FROM {schema}.message_log_{stream}");
    case cursor_position::kind::at_message:
      return start.message_id > 0 ? start.message_id - 1 : 0;
    case cursor_position::kind::at_time: return position_at(start.instant);
    }
    return 0;
  }

  message_id ask(std::string_view query) {
    return on_
      .run("/* register group: start */ "
           + named(query, schema_, request_.stream))[0][0]
      .as<message_id>();
  }

  message_id position_at(std::chrono::system_clock::time_point instant) {
    const auto since = std::chrono::floor<std::chrono::microseconds>(instant)
                         .time_since_epoch()
                         .count();
    // After the last older message below the first that is as young as asked
    // for: not just before the latter, as ids between the two may be of
    // transactions that are still open.
    // $1 microseconds since 1970
    return on_
      .run(named(R"sql(
             /* register group: start at a time */
             SELECT coalesce(
               (SELECT pg_catalog.max(id)
                FROM {schema}.message_log_{stream}
                WHERE created_at < asked.instant
                  AND id < coalesce(
                        (SELECT pg_catalog.min(id)
                         FROM {schema}.message_log_{stream}
                         WHERE created_at >= asked.instant),
                        9223372036854775807)),
               0)
             FROM (SELECT 'epoch'::timestamptz
                          + $1::bigint * interval '1 microsecond')
               AS asked (instant)
           )sql",
                 schema_, request_.stream),
           since)[0][0]
      .as<message_id>();
  }

  void install_bindings(group_id group) {
    array_text patterns;
    array_text regexes;
    for (const auto& pattern : request_.config.bindings) {
      patterns.add(pattern);
      regexes.add(binding_regex(pattern));
    }
    const auto all = std::move(patterns).finish();
    // $1 group
    on_.run(named("/* register group: drop bindings */"
                  " DELETE FROM {schema}.binding_config_{stream}"
                  " WHERE consumer_group_id = $1",
                  schema_, request_.stream),
            group);
    // $1 group, $2 patterns, $3 regular expressions
    on_.run(named(R"sql(
              /* register group: install bindings */
              INSERT INTO {schema}.binding_config_{stream}
                (consumer_group_id, pattern, regex)
              SELECT $1, b.pattern, b.regex
              FROM ROWS FROM (pg_catalog.unnest($2::text[]),
                              pg_catalog.unnest($3::text[]))
                AS b (pattern, regex)
              ON CONFLICT DO NOTHING
            )sql",
                  schema_, request_.stream),
            group, all, std::move(regexes).finish());
    // $1 group, $2 patterns, $3 who
    on_.run(named(R"sql(
              /* register group: log bindings */
              INSERT INTO {schema}.binding_config_log_{stream}
                (consumer_group_id, patterns, effect, declared_by)
              VALUES ($1, $2::text[], 'installed', $3)
            )sql",
                  schema_, request_.stream),
            group, all, request_.declared_by);
  }

  void log(group_id group) {
    // $1 group, $2 document, $3 who
    on_.run(named(R"sql(
              /* register group: log */
              INSERT INTO {schema}.consumer_group_config_log
                (consumer_group_id, config, declared_by)
              VALUES ($1, $2::jsonb, $3)
            )sql",
                  schema_),
            group, document_, request_.declared_by);
  }

  statements& on_;
  const std::string& schema_;
  const group_declaration_request& request_;
  std::string document_;
};

constexpr std::string_view select_groups = R"sql(
  /* find groups */
  SELECT id, stream_id, name, config,
         (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
           AS created_us
  FROM {schema}.consumer_group_config
  WHERE stream_id = $1 AND ($2::text IS NULL OR name = $2::text)
  ORDER BY name COLLATE "C"
)sql";

} // namespace

group_registration
postgres_session::register_group(const group_declaration_request& request) {
  validate_name(name_kind::group, request.name);
  validate_or_throw(request.config, "group " + request.name);
  return connection_.transact_repeatable([&](statements& on) {
    return group_declaration{on, schema_, request}.run();
  });
}

std::optional<group_info> postgres_session::find_group(stream_id stream,
                                                       std::string_view name) {
  // $1 stream, $2 name
  return connection_.transact([&](statements& on) -> std::optional<group_info> {
    const auto rows = on.run(sql(select_groups), stream, std::string{name});
    if (rows.empty())
      return std::nullopt;
    return group_from(rows[0]);
  });
}

std::vector<group_info> postgres_session::list_groups(stream_id stream) {
  // $1 stream, $2 null: all
  return connection_.transact([&](statements& on) {
    const char* all = nullptr;
    std::vector<group_info> out;
    for (const auto& row : on.run(sql(select_groups), stream, all))
      out.push_back(group_from(row));
    return out;
  });
}

} // namespace sqlstreams
