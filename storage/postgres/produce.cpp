// Producing batches: at most four round trips, and an answer after a lost one.

#include "storage/postgres/message_columns.hpp"
#include "storage/postgres/postgres_session.hpp"
#include "storage/postgres/table_names.hpp"
#include "storage/refused_message.hpp"

#include <pqxx/stream_to>

#include <algorithm>
#include <array>
#include <tuple>

namespace sqlstreams {
namespace {

/// How often a batch is run again after making a partition, or because its
/// transaction turned out to be rolled back.
constexpr int max_reruns = 4;

const char* or_null(const std::string& text) {
  return text.empty() ? nullptr : text.c_str();
}

const char* or_null(const std::optional<std::string>& text) {
  return text ? text->c_str() : nullptr;
}

std::string replaced(std::string text, std::string_view placeholder,
                     std::string_view by) {
  return text.replace(text.find(placeholder), placeholder.size(), by);
}

/// Fills in how many ids to draw, and what the transaction is known by.
std::string filled_in(std::string_view text, std::size_t count) {
  return replaced(replaced(std::string{text}, "{count}", std::to_string(count)),
                  "{mark}", mark_columns);
}

bool has_caller_key(const new_message& one) {
  return !one.idempotency_key.empty();
}

void copy_row(pqxx::stream_to& rows, message_id id, const new_message& one) {
  const bool is_json = one.content_type.empty();
  const auto headers = headers_column(one.headers);
  const auto options = options_column(one.options);
  const auto bytes = is_json ? std::string{} : "\\x" + hex(one.payload);
  rows << std::make_tuple(
    id, one.schema_version, or_null(one.routing_key), or_null(one.message_key),
    is_json ? one.payload.c_str() : nullptr, is_json ? nullptr : bytes.c_str(),
    or_null(one.content_type), or_null(headers), or_null(options));
}

} // namespace

void postgres_session::produce_plain(statements& on, stream_id stream,
                                     const std::vector<new_message>& messages,
                                     produce_attempt& attempt) {
  // The lock comes in a statement before the one that draws ids. That one makes
  // the partitions they fall into, where missing. Numbers only, so no
  // parameters are needed and all goes in one round trip.
  static constexpr std::string_view text = R"sql(;
    /* produce: lock */
    SELECT pg_catalog.pg_advisory_xact_lock_shared({lock_class}, {stream});
    /* produce: ids */
    WITH drawn AS MATERIALIZED (
      SELECT pg_catalog.nextval(
               '{schema}.message_log_{stream}_id_seq'::pg_catalog.regclass) AS id
      FROM pg_catalog.generate_series(1, {count})
    )
    SELECT id, {mark},
           (SELECT {schema}.ensure_partitions({stream}, pg_catalog.min(id),
                                              pg_catalog.max(id))
            FROM drawn) AS partitions_made
    FROM drawn
  )sql";
  const auto drawn = on.begin(std::string{statements::begin_read_committed}
                              + sql(filled_in(text, messages.size()), stream));
  attempt.mark = read_mark(drawn[0]);
  const auto id_column = drawn.column_number("id");
  for (const auto& row : drawn)
    attempt.results.push_back({row[id_column].as<message_id>(), false});

  static const std::array<std::string, 9> columns{
    "id",           "schema_version", "routing_key",
    "message_key",  "payload",        "payload_bytes",
    "content_type", "headers",        "options"};
  pqxx::stream_to rows{on.raw(), sql("{schema}.message_log_{stream}", stream),
                       columns};
  for (std::size_t i = 0; i < messages.size(); ++i)
    copy_row(rows, attempt.results[i].id, messages[i]);
  rows.complete();
  on.commit();
}

void postgres_session::produce_keyed(statements& on, stream_id stream,
                                     const std::vector<new_message>& messages,
                                     produce_attempt& attempt) {
  // Another transaction that stores one of the keys is waited for, and may be
  // an application's that stays open. Not as long as an attempt may take: its
  // caller should hear why it failed.
  const auto begun = on.begin(std::string{statements::begin_read_committed}
                              + "; SET LOCAL lock_timeout = '5s'"
                                "; /* produce: transaction */ SELECT "
                              + std::string{mark_columns});
  attempt.mark = read_mark(begun[0]);
  // $1 payloads, $2 routing keys, $3 message keys, $4 content types, $5
  // headers, $6 options, $7 idempotency keys, $8 schema versions
  static constexpr std::string_view text = R"sql(
    /* produce: keyed */
    SELECT message_id, duplicate
    FROM {schema}.produce_batch_{stream}($1::text[], $2::text[], $3::text[],
      $4::text[], $5::text[], $6::text[], $7::uuid[], $8::integer[])
    ORDER BY "position"
  )sql";
  const batch_columns batch{messages};
  const auto rows =
    on.run(sql(text, stream), batch.payloads, batch.routing_keys,
           batch.message_keys, batch.content_types, batch.headers,
           batch.options, batch.idempotency_keys, batch.schema_versions);
  for (const auto& row : rows)
    attempt.results.push_back(
      {row["message_id"].as<message_id>(), row["duplicate"].as<bool>()});
  on.commit();
}

std::vector<produced>
postgres_session::produce(stream_id stream,
                          const std::vector<new_message>& messages) {
  if (messages.empty())
    return {};
  const bool keyed =
    std::any_of(messages.begin(), messages.end(), has_caller_key);
  for (int runs = 1;; ++runs) {
    produce_attempt attempt;
    try {
      connection_.transact(
        [&](statements& on) {
          keyed ? produce_keyed(on, stream, messages, attempt)
                : produce_plain(on, stream, messages, attempt);
        },
        code::stream_not_found);
    } catch (const error& e) {
      const bool again = runs <= max_reruns;
      const auto state = connection_.last_sqlstate();
      if (e.recover() == recovery::unknown && !attempt.mark.xid.empty()) {
        const auto end = ask_outcome(connection_, attempt.mark);
        if (end == transaction_end::committed)
          return attempt.results;
        if (end == transaction_end::aborted && again)
          continue;
        throw error{code::commit_confirmation_lost, e.detail()};
      }
      if (state == "55P03" && keyed)
        throw error{code::database_interrupted,
                    "a transaction that stays open stores one of the "
                    "idempotency keys, or makes the stream's next partition: "
                      + e.detail()};
      // Its partition was being made by a transaction that stays open.
      if (state == "55P03")
        throw error{code::partition_not_created, e.detail()};
      // Also what a missing partition says: one dropped just now. Whether
      // another session has made it meanwhile cannot be told, so the batch is
      // run again in any case.
      if (state == sqlstate::check_violation && again
          && !attempt.results.empty()) {
        heal_partitions(stream, attempt);
        continue;
      }
      if (is_data_refusal(state))
        throw_refusal(messages, e);
      throw;
    }
    prepare_partitions(stream, attempt.results.back().id);
    return attempt.results;
  }
}

void postgres_session::heal_partitions(stream_id stream,
                                       const produce_attempt& attempt) {
  // The catalog says what is missing, the server's text would be localized.
  const auto first = attempt.results.front().id;
  const auto last = attempt.results.back().id;
  // $1 stream, $2 first id, $3 last id
  static constexpr std::string_view text = R"sql(
    /* produce: heal */
    SELECT {schema}.ensure_partitions($1, $2, $3)
  )sql";
  try {
    connection_.transact_repeatable(
      [&](statements& on) { return on.call(sql(text), stream, first, last); });
  } catch (const error& e) {
    if (connection_.last_sqlstate() == "55P03")
      throw error{code::partition_not_created,
                  "stream " + std::to_string(stream) + ", for the ids from "
                    + std::to_string(first) + ": " + e.detail()};
    throw;
  }
}

void postgres_session::prepare_partitions(stream_id stream,
                                          message_id highest) {
  // The batch is stored by now: whatever fails here is tried again by the next
  // one, and healed when it is needed after all.
  try {
    auto& known = partitions_[stream];
    if (known.size == 0) {
      // $1 stream
      static constexpr std::string_view text = R"sql(
        /* produce: partition size */
        SELECT partition_size FROM {schema}.stream_config WHERE id = $1
      )sql";
      known.size = connection_.transact([&](statements& on) {
        return on.run(sql(text), stream)[0][0].as<std::int64_t>();
      });
    }
    const auto number = (highest - 1) / known.size;
    const bool half_full = (highest - 1) % known.size >= known.size / 2;
    if (!half_full || known.prepared > number)
      return;
    // $1 stream, $2 an id of the partition
    static constexpr std::string_view text = R"sql(
      /* produce: partition ahead */
      SELECT {schema}.ensure_partition($1, $2)
    )sql";
    connection_.transact_repeatable([&](statements& on) {
      return on.call(sql(text), stream, (number + 1) * known.size + 1);
    });
    known.prepared = number + 1;
  } catch (const std::exception&) {
    partitions_.erase(stream);
  }
}

bool postgres_session::is_refused(const new_message* first,
                                  const new_message* last) {
  // $1 payloads
  static constexpr const char* text = R"sql(
    /* produce: find the refused message */
    SELECT pg_catalog.count(payload::pg_catalog.jsonb)
    FROM pg_catalog.unnest($1::pg_catalog.text[]) AS given (payload)
  )sql";
  array_text payloads;
  for (auto* one = first; one != last; ++one)
    payloads.add_or_null(one->content_type.empty() ? one->payload : "");
  try {
    const auto list = std::move(payloads).finish();
    connection_.transact([&](statements& on) { on.run(text, list); });
    return false;
  } catch (const error&) {
    if (is_data_refusal(connection_.last_sqlstate()))
      return true;
    throw;
  }
}

void postgres_session::throw_refusal(const std::vector<new_message>& messages,
                                     const error& why) {
  // The server's text names the line, but in its own language. So the half that
  // it refuses is halved again until one message is left.
  const auto* first = messages.data();
  const auto* last = first + messages.size();
  if (messages.size() > 1 && !is_refused(first, last))
    throw why; // not to be attributed: the caller splits the batch
  while (last - first > 1) {
    const auto* middle = first + (last - first) / 2;
    is_refused(first, middle) ? last = middle : first = middle;
  }
  const auto index = static_cast<std::size_t>(first - messages.data());
  throw refused_message{index, why};
}

} // namespace sqlstreams
