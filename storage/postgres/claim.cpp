// Claiming, taking over, reading. The protocol is in schema/stream/0003_*.sql.

#include "storage/postgres/delivered_rows.hpp"
#include "storage/postgres/message_columns.hpp"
#include "storage/postgres/microseconds.hpp"
#include "storage/postgres/postgres_session.hpp"

#include <nlohmann/json.hpp>

namespace sqlstreams {
namespace {

using nlohmann::json;

id_range range_from(const json& from) {
  return {from.at("low").get<message_id>(), from.at("high").get<message_id>()};
}

claim_hold hold_from(const json& from) {
  return {from.at("missing").get<message_id>(), from.at("pid").get<int>(),
          from.at("application").get<std::string>(),
          std::chrono::microseconds{from.at("age_us").get<std::int64_t>()}};
}

void read_answer(claim_result& to, const json& answer) {
  to.more = answer.value("more", false);
  to.paused = answer.value("paused", false);
  if (answer.contains("token")) {
    to.claimed.emplace();
    to.claimed->token = answer.at("token").get<std::string>();
    to.claimed->range = range_from(answer);
  }
  if (answer.contains("hold") && answer.at("hold").is_object())
    to.hold = hold_from(answer.at("hold"));
  if (answer.contains("behind"))
    to.behind_retention = range_from(answer.at("behind"));
}

void add_range(reclaim_result& to, const json& answer) {
  auto holder = answer.at("holder").get<std::string>();
  if (answer.contains("quarantined")) {
    to.quarantined.push_back({range_from(answer),
                              answer.at("quarantined").get<std::size_t>(),
                              std::move(holder)});
    return;
  }
  reclaimed_range taken;
  taken.claimed.token = answer.at("token").get<std::string>();
  taken.claimed.range = range_from(answer);
  taken.claimed.reclaims = answer.at("reclaims").get<int>();
  taken.previous_holder = std::move(holder);
  taken.surrendered = answer.at("surrendered").get<bool>();
  to.reclaimed.push_back(std::move(taken));
}

} // namespace

// A lost reply makes these calls fail as if nothing had been done. What they
// did is a lease that nobody knows of: it runs out, and its range comes again.

claim_result postgres_session::claim(const claim_request& request) {
  // $1 group, $2 schema version, $3 ids, $4 bytes, $5 lease (microseconds),
  // $6 holder
  static constexpr std::string_view text = R"sql(
    /* claim */
    SELECT answer, token, id, schema_version, routing_key, message_key,
           payload, payload_bytes, content_type, headers, options, created_us
    FROM {schema}.claim_{stream}($1, $2, $3, $4,
           $5::bigint * interval '1 microsecond', $6)
  )sql";
  return connection_.transact_repeatable(
    [&](statements& on) {
      const auto result =
        on.call(sql(text, request.stream), request.group,
                request.schema_version, request.limit, request.limit_bytes,
                microseconds(request.lease), request.holder);
      const delivered_rows rows{result};
      claim_result out;
      std::vector<message> messages;
      messages.reserve(rows.size());
      for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows.has_answer(row))
          read_answer(out, rows.answer(row));
        else
          messages.push_back(rows.read(row));
      }
      if (out.claimed)
        out.claimed->messages = std::move(messages);
      return out;
    },
    code::stream_not_found);
}

reclaim_result postgres_session::reclaim(const reclaim_request& request) {
  // $1 group, $2 schema version, $3 ranges, $4 reclaims before quarantine,
  // $5 lease (microseconds), $6 holder
  static constexpr std::string_view text = R"sql(
    /* reclaim */
    SELECT answer, token, id, schema_version, routing_key, message_key,
           payload, payload_bytes, content_type, headers, options, created_us
    FROM {schema}.reclaim_{stream}($1, $2, $3, $4,
           $5::bigint * interval '1 microsecond', $6)
  )sql";
  return connection_.transact_repeatable(
    [&](statements& on) {
      const auto result = on.call(sql(text, request.stream), request.group,
                                  request.schema_version, request.limit,
                                  request.max_range_reclaims,
                                  microseconds(request.lease), request.holder);
      const delivered_rows rows{result};
      reclaim_result out;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        if (rows.has_answer(row))
          add_range(out, rows.answer(row));
        else
          out.reclaimed.back().claimed.messages.push_back(rows.read(row));
      }
      return out;
    },
    code::stream_not_found);
}

read_result postgres_session::read(const read_request& request) {
  // $1 after, $2 ids, $3 settled head, $4 pending head, $5 pending holders
  static constexpr std::string_view text = R"sql(
    /* read */
    SELECT answer, token, id, schema_version, routing_key, message_key,
           payload, payload_bytes, content_type, headers, options, created_us
    FROM {schema}.read_{stream}($1, $2, $3, $4, $5::text[])
  )sql";
  array_text holders;
  for (const auto& holder : request.position.pending_holders)
    holders.add(holder);
  return connection_.transact_repeatable(
    [&](statements& on) {
      const auto result =
        on.call(sql(text, request.stream), request.position.after,
                request.limit, request.position.settled_head,
                request.position.pending_head, std::move(holders).finish());
      const delivered_rows rows{result};
      read_result out;
      for (std::size_t row = 0; row < rows.size(); ++row) {
        if (!rows.has_answer(row)) {
          out.messages.push_back(rows.read(row));
          continue;
        }
        const auto answer = rows.answer(row);
        out.position = {
          answer.at("after").get<message_id>(),
          answer.at("settled_head").get<message_id>(),
          answer.at("pending_head").get<message_id>(),
          answer.at("pending_holders").get<std::vector<std::string>>()};
      }
      return out;
    },
    code::stream_not_found);
}

} // namespace sqlstreams
