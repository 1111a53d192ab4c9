#pragma once
// One connection, and the one place where libpqxx's exceptions become ours.

#include "config/error.hpp"
#include "storage/postgres/database_link.hpp"
#include "storage/postgres/postgres_store.hpp"
#include "storage/postgres/sqlstate.hpp"

#include <pqxx/nontransaction>
#include <pqxx/result>

#include <cstdint>
#include <memory>
#include <string>

namespace sqlstreams {

/// What a connection can be asked while work runs on it, see
/// `connection::transact`. Statements carry values as parameters.
///
/// No session state is left behind: no SET, no prepared statements, no
/// session-level locks. So a pooler in transaction mode may stand between.
class statements {
public:
  /// Whoever begins a transaction by hand says which isolation level: the role
  /// or the server may have a stricter default.
  ///
  /// A transaction that spans round trips holds locks while its client thinks.
  /// Should the client's host vanish, the server would keep it for hours and
  /// with it everybody who waits for those locks: so it is told to look sooner.
  static constexpr std::string_view begin_read_committed =
    "BEGIN ISOLATION LEVEL READ COMMITTED;"
    " SET LOCAL idle_in_transaction_session_timeout = '30s';"
    " SET LOCAL tcp_keepalives_idle = 10;"
    " SET LOCAL tcp_keepalives_interval = 5;"
    " SET LOCAL tcp_keepalives_count = 3";

  explicit statements(pqxx::connection_base& connection, bool& explicit_begin);

  /// Runs one or more statements without parameters, in one round trip, the
  /// first of which begins a transaction.
  /// @returns the result of the last one
  pqxx::result begin(const std::string& sql);

  /// Begins a transaction in a round trip of its own.
  void begin();

  /// Runs a statement that writes nothing, or is part of a transaction.
  template <class... Values>
  pqxx::result run(const std::string& sql, const Values&... values) {
    return transaction_.exec_params(sql, values...);
  }

  /// Runs statements without parameters inside of a transaction.
  pqxx::result script(const std::string& sql);

  /// Runs one statement that is a transaction by itself. Where the default
  /// isolation level is not the one it needs (SQLSTATE SQ001, raised by our
  /// functions before they do anything), it is run between BEGIN and COMMIT,
  /// from then on at once: three round trips instead of one.
  template <class... Values>
  pqxx::result call(const std::string& sql, const Values&... values) {
    if (!explicit_begin_) {
      stage_ = statement_stage::committing;
      try {
        auto rows = transaction_.exec_params(sql, values...);
        stage_ = statement_stage::open;
        return rows;
      } catch (const pqxx::sql_error& e) {
        if (e.sqlstate() != sqlstate::wrong_isolation)
          throw;
        stage_ = statement_stage::open;
        explicit_begin_ = true;
      }
    }
    begin();
    auto rows = transaction_.exec_params(sql, values...);
    commit();
    return rows;
  }

  void commit();

  /// The transaction object for what needs one, such as pqxx::stream_to.
  pqxx::transaction_base& raw() noexcept { return transaction_; }

  [[nodiscard]] bool begun() const noexcept { return begun_; }
  [[nodiscard]] statement_stage stage() const noexcept { return stage_; }

private:
  pqxx::nontransaction transaction_;
  bool& explicit_begin_;
  bool begun_ = false;
  statement_stage stage_ = statement_stage::open;
};

/// A connection that is made when it is needed and made anew after a loss. It
/// is never replaced while work runs on it: a lost connection ends the work.
/// Not thread-safe.
class connection {
public:
  /// @param interrupt of the calls that are made on it
  /// @throws error invalid_database_url
  explicit connection(const postgres_options& options,
                      std::shared_ptr<call_interrupt> interrupt =
                        std::make_shared<call_interrupt>());
  ~connection();

  /// Runs `work` with `statements&`. A transaction that it leaves open is
  /// rolled back.
  /// @param missing what it means if a table or function is not there
  /// @throws error for whatever libpqxx throws; other exceptions pass through
  template <class Work>
  auto transact(Work&& work, code missing = code::system_not_registered) {
    statements& active = start();
    struct finish {
      connection& self;
      ~finish() { self.end(); }
    } at_end{*this};
    try {
      return work(active);
    } catch (...) {
      fail(missing);
    }
  }

  /// As above, for work that may be done twice without harm: a lost reply is
  /// then a transient failure like any other.
  template <class Work>
  auto transact_repeatable(Work&& work,
                           code missing = code::system_not_registered) {
    try {
      return transact(work, missing);
    } catch (const error& e) {
      if (e.recover() != recovery::unknown)
        throw;
      throw error{code::database_interrupted, e.detail()};
    }
  }

  /// SQLSTATE of the last error that `transact` threw; empty if none.
  [[nodiscard]] const std::string& last_sqlstate() const noexcept {
    return last_sqlstate_;
  }

  /// Closes the connection; the next work makes a new one.
  void drop() noexcept;

  /// Returns whether the present call was interrupted: no more work is begun.
  [[nodiscard]] bool interrupted() const { return interrupt_->requested(); }

private:
  statements& start();
  bool begin_transaction(); ///< false: the connection has been closed
  void end() noexcept;
  [[noreturn]] void fail(code missing);

  std::string settings_;
  std::string shown_url_; ///< without secrets
  std::shared_ptr<call_interrupt> interrupt_;
  bool explicit_begin_ = false;
  std::string last_sqlstate_;
  // Not by its base, whose destructor is not virtual: it would stay open.
  std::unique_ptr<database_link> link_;
  std::unique_ptr<statements> active_; ///< while work runs
};

/// Throws what the exception being handled means.
/// @param missing what it means if a table or function is not there
[[noreturn]] void rethrow_as_error(statement_stage stage, code missing);

} // namespace sqlstreams
