#include "storage/postgres/transaction_outcome.hpp"

#include <pqxx/row>

#include <chrono>
#include <thread>

namespace sqlstreams {
namespace {

/// How long an unknown outcome is asked for: a server that restarts is back by
/// then, a transaction that is still in progress has ended.
constexpr std::chrono::seconds outcome_patience{30};
constexpr std::chrono::milliseconds outcome_pause{100};

} // namespace

const std::string_view mark_columns =
  "CASE WHEN NOT pg_catalog.pg_is_in_recovery()"
  " THEN pg_catalog.pg_current_xact_id() END AS xid,"
  " CASE WHEN NOT pg_catalog.pg_is_in_recovery()"
  " THEN pg_catalog.left(pg_catalog.pg_walfile_name("
  "pg_catalog.pg_current_wal_insert_lsn()), 8) END AS timeline";

transaction_mark read_mark(const pqxx::row& row) {
  return {row["xid"].as<std::string>(""), row["timeline"].as<std::string>("")};
}

transaction_end ask_outcome(connection& link, const transaction_mark& mark) {
  // Another timeline has other transactions of the same number, and may have
  // lost this one. A number that has not been given out yet likewise: the query
  // then fails. NULL: too old to be remembered.
  // $1 transaction, $2 timeline
  static constexpr const char* text = R"sql(
    /* transaction outcome */
    SELECT CASE
      WHEN pg_catalog.pg_is_in_recovery() THEN 'standby'
      WHEN pg_catalog.left(pg_catalog.pg_walfile_name(
             pg_catalog.pg_current_wal_insert_lsn()), 8) OPERATOR(pg_catalog.=) $2
      THEN pg_catalog.pg_xact_status($1::text::pg_catalog.xid8)
    END
  )sql";
  const auto give_up = std::chrono::steady_clock::now() + outcome_patience;
  while (std::chrono::steady_clock::now() < give_up) {
    try {
      const auto status = link.transact([&](statements& on) {
        return on.run(text, mark.xid, mark.timeline)[0][0].as<std::string>(
          "forgotten");
      });
      if (status == "committed")
        return transaction_end::committed;
      if (status == "aborted")
        return transaction_end::aborted;
      if (status == "forgotten")
        return transaction_end::unknown;
      if (status == "standby")
        link.drop(); // the next attempt may find the primary
    } catch (const error& e) {
      if (e.recover() == recovery::permanent || link.interrupted())
        return transaction_end::unknown;
    }
    std::this_thread::sleep_for(outcome_pause);
  }
  return transaction_end::unknown;
}

} // namespace sqlstreams
