#include "storage/postgres/produce_in_tx.hpp"

#include "config/error.hpp"
#include "storage/postgres/connection.hpp"
#include "storage/postgres/message_columns.hpp"
#include "storage/postgres/table_names.hpp"

#include <pqxx/except>
#include <pqxx/transaction_base>

namespace sqlstreams {
namespace {

/// Throws what the exception being handled means.
[[noreturn]] void throw_failed(const pqxx::transaction_base& transaction) {
  try {
    rethrow_as_error(statement_stage::open, code::stream_not_found);
  } catch (const error& e) {
    throw transaction_failed{transaction, e};
  }
}

} // namespace

std::vector<produced> produce_in_tx(pqxx::transaction_base& transaction,
                                    std::string_view schema, stream_id stream,
                                    const std::vector<new_message>& messages) {
  // The function takes the lock before it draws ids, and makes a missing
  // partition before it inserts: no failure that would need a savepoint, so the
  // caller's earlier writes are safe.
  // $1 payloads, $2 routing keys, $3 message keys, $4 content types, $5
  // headers, $6 options, $7 idempotency keys, $8 schema versions
  static constexpr std::string_view text = R"sql(
    /* produce in a transaction */
    SELECT message_id, duplicate
    FROM {schema}.produce_batch_{stream}($1::text[], $2::text[], $3::text[],
      $4::text[], $5::text[], $6::text[], $7::uuid[], $8::integer[])
    ORDER BY "position"
  )sql";
  std::vector<produced> out;
  if (messages.empty())
    return out;
  try {
    const batch_columns batch{messages};
    const auto rows = transaction.exec_params(
      named(text, std::string{schema}, stream), batch.payloads,
      batch.routing_keys, batch.message_keys, batch.content_types,
      batch.headers, batch.options, batch.idempotency_keys,
      batch.schema_versions);
    for (const auto& row : rows)
      out.push_back(
        {row["message_id"].as<message_id>(), row["duplicate"].as<bool>()});
  } catch (const pqxx::failure&) {
    throw_failed(transaction);
  }
  return out;
}

} // namespace sqlstreams
