// Exceptions, their history, and where a group stands. The protocol is in
// schema/stream/0005_exceptions.sql.

#include "storage/postgres/delivered_rows.hpp"
#include "storage/postgres/microseconds.hpp"
#include "storage/postgres/postgres_session.hpp"

#include <nlohmann/json.hpp>

#include <optional>

namespace sqlstreams {
namespace {

template <class Value>
Value read_word(const pqxx::field& from,
                std::optional<Value> (*parse)(std::string_view)) {
  const std::string_view word{from.c_str(), from.size()};
  if (const auto value = parse(word))
    return *value;
  throw error{code::row_not_decodable,
              std::string{from.name()} + " is \"" + std::string{word} + '"'};
}

exception_row exception_from(const pqxx::row& row) {
  exception_row out;
  out.id = row["message_id"].as<message_id>();
  out.status = read_word(
    row["status"],
    +[](std::string_view word) { return parse_exception_status(word); });
  out.message_key = row["message_key"].as<std::string>("");
  out.policy = read_word(
    row["concurrency"],
    +[](std::string_view word) { return parse_concurrency(word); });
  out.attempts = row["attempts"].as<std::int64_t>();
  out.delays = row["delays"].as<std::int64_t>();
  out.can_run_after = timestamp_from(row["run_us"].as<std::int64_t>());
  out.last_error = row["last_error"].as<std::string>();
  out.created_at = timestamp_from(row["created_us"].as<std::int64_t>());
  return out;
}

history_row history_from(const pqxx::row& row, message_id id) {
  history_row out;
  out.id = id;
  out.attempt = row["attempt"].as<std::int64_t>();
  out.kind = read_word(
    row["status"],
    +[](std::string_view word) { return parse_history_kind(word); });
  out.error = row["error"].as<std::string>();
  out.at = timestamp_from(row["at_us"].as<std::int64_t>());
  return out;
}

} // namespace

exception_claim_result
postgres_session::claim_exceptions(const exception_claim_request& request) {
  // $1 group, $2 schema version, $3 rows, $4 lease (microseconds), $5 holder,
  // $6 history mode, $7 retries, $8 their minimum, $9 their maximum
  static constexpr std::string_view text = R"sql(
    /* claim exceptions */
    SELECT answer, token, id, schema_version, routing_key, message_key,
           payload, payload_bytes, content_type, headers, options, created_us
    FROM {schema}.claim_exceptions_{stream}($1, $2, $3,
           $4::bigint * interval '1 microsecond', $5, $6, $7, $8, $9)
  )sql";
  return connection_.transact_repeatable(
    [&](statements& on) {
      const auto result = on.call(
        sql(text, request.stream), request.group, request.schema_version,
        request.limit, microseconds(request.lease), request.holder,
        std::string{to_string(request.history)}, request.budget.max_retries,
        request.budget.minimum, request.budget.maximum);
      const delivered_rows rows{result};
      exception_claim_result out;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        const auto counters = rows.answer(row);
        out.claimed.push_back(
          {rows.token(row), counters.at("attempts").get<std::int64_t>(),
           counters.at("delays").get<std::int64_t>(), rows.read(row)});
      }
      return out;
    },
    code::stream_not_found);
}

kill_result postgres_session::kill_exhausted(const kill_request& request) {
  // $1 group, $2 rows, $3 history mode, $4 retries, $5 their minimum, $6 their
  // maximum
  static constexpr std::string_view text = R"sql(
    /* kill exhausted exceptions */
    SELECT id FROM {schema}.kill_{stream}($1, $2, $3, $4, $5, $6) AS killed (id)
  )sql";
  return connection_.transact_repeatable(
    [&](statements& on) {
      const auto rows = on.call(
        sql(text, request.stream), request.group, request.limit,
        std::string{to_string(request.history)}, request.budget.max_retries,
        request.budget.minimum, request.budget.maximum);
      kill_result out;
      for (const auto& row : rows)
        out.killed.push_back(row["id"].as<message_id>());
      return out;
    },
    code::stream_not_found);
}

std::vector<exception_row>
postgres_session::list_exceptions(const exception_list_request& request) {
  // $1 group, $2 status (null: all), $3 after this id, $4 rows
  static constexpr std::string_view text = R"sql(
    /* list exceptions */
    SELECT message_id, status, message_key, concurrency, attempts, delays,
           (pg_catalog.date_part('epoch', can_run_after) * 1000000)::bigint
             AS run_us,
           last_error,
           (pg_catalog.date_part('epoch', created_at) * 1000000)::bigint
             AS created_us
    FROM {schema}.exception_queue_{stream}
    WHERE consumer_group_id = $1 AND ($2::text IS NULL OR status = $2::text)
      AND message_id > $3
    ORDER BY message_id LIMIT $4
  )sql";
  const std::string status{request.status ? to_string(*request.status) : ""};
  return connection_.transact(
    [&](statements& on) {
      std::vector<exception_row> out;
      for (const auto& row : on.run(sql(text, request.stream), request.group,
                                    request.status ? status.c_str() : nullptr,
                                    request.after, request.limit))
        out.push_back(exception_from(row));
      return out;
    },
    code::stream_not_found);
}

std::vector<history_row>
postgres_session::history(stream_id stream, group_id group, message_id id) {
  // $1 message, $2 group
  static constexpr std::string_view text = R"sql(
    /* history */
    SELECT attempt, status, error,
           (pg_catalog.date_part('epoch', at) * 1000000)::bigint AS at_us
    FROM {schema}.delivery_log_{stream} AS line
    WHERE message_id = $1 AND consumer_group_id = $2
    ORDER BY line.id
  )sql";
  return connection_.transact(
    [&](statements& on) {
      std::vector<history_row> out;
      for (const auto& row : on.run(sql(text, stream), id, group))
        out.push_back(history_from(row, id));
      return out;
    },
    code::stream_not_found);
}

group_lag postgres_session::lag(stream_id stream, group_id group) {
  // $1 group
  static constexpr std::string_view text = R"sql(
    /* lag */
    SELECT head, claimed, committed, backlog, backlog_estimated, ready,
           inflight, deferred, dead, open_leases
    FROM {schema}.lag_{stream}($1)
  )sql";
  return connection_.transact(
    [&](statements& on) {
      const auto row = on.run(sql(text, stream), group)[0];
      group_lag out;
      out.head = row["head"].as<message_id>();
      out.claimed = row["claimed"].as<message_id>();
      out.committed = row["committed"].as<message_id>();
      out.backlog = row["backlog"].as<std::int64_t>();
      out.backlog_estimated = row["backlog_estimated"].as<bool>();
      out.ready = row["ready"].as<std::int64_t>();
      out.inflight = row["inflight"].as<std::int64_t>();
      out.deferred = row["deferred"].as<std::int64_t>();
      out.dead = row["dead"].as<std::int64_t>();
      out.open_leases = row["open_leases"].as<std::int64_t>();
      return out;
    },
    code::stream_not_found);
}

} // namespace sqlstreams
