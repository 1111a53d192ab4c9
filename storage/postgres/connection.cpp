#include "storage/postgres/connection.hpp"

#include "config/database_url.hpp"
#include "storage/postgres/connection_settings.hpp"

#include <pqxx/except>

#include <utility>

namespace sqlstreams {
namespace {

/// Why libpqxx threw: its classes lose some SQLSTATEs, which their types tell.
struct cause {
  std::string sqlstate;
  std::string text;
};

std::string first_line(std::string_view text) {
  return std::string{text.substr(0, text.find('\n'))};
}

/// Reads the exception being handled; passes on what is not libpqxx's. The
/// order matters: derived classes come before their bases.
cause current_cause() {
  try {
    throw;
  } catch (const pqxx::in_doubt_error& e) {
    return {"40003", first_line(e.what())};
  } catch (const pqxx::statement_completion_unknown& e) {
    return {"40003", first_line(e.what())};
  } catch (const pqxx::deadlock_detected& e) {
    return {"40P01", first_line(e.what())};
  } catch (const pqxx::serialization_failure& e) {
    return {"40001", first_line(e.what())};
  } catch (const pqxx::transaction_rollback& e) {
    return {"40000", first_line(e.what())};
  } catch (const pqxx::too_many_connections& e) {
    return {"53300", first_line(e.what())};
  } catch (const pqxx::broken_connection& e) {
    return {"", first_line(e.what())};
  } catch (const pqxx::sql_error& e) {
    return {e.sqlstate(), first_line(e.what())};
  } catch (const pqxx::failure& e) {
    return {"", first_line(e.what())};
  }
}

[[noreturn]] void throw_error(const cause& why, statement_stage stage,
                              code missing) {
  auto meaning = classify_sqlstate(why.sqlstate, stage);
  if (is_missing_object(why.sqlstate))
    meaning.number = missing;
  std::string detail = why.text;
  if (!why.sqlstate.empty())
    detail += " (SQLSTATE " + why.sqlstate + ")";
  throw error{meaning.number, meaning.recover, std::move(detail)};
}

constexpr std::string_view gave_up =
  "given up because the server did not answer in time";

std::unique_ptr<database_link>
connect(const std::string& settings, const std::string& shown_url,
        const std::shared_ptr<call_interrupt>& interrupt) {
  try {
    return std::make_unique<database_link>(settings, interrupt);
  } catch (const connection_refused& e) {
    // Nobody answers: that is not an interruption of something.
    const auto meaning = classify_sqlstate(
      e.sqlstate().empty() ? "08001" : e.sqlstate(), statement_stage::open);
    throw error{meaning.number, meaning.recover,
                shown_url + ": " + first_line(e.what()),
                e.sqlstate() == "3D000"
                  ? "Create the database (`createdb NAME`), or correct its "
                    "name in the address"
                  : ""};
  }
}

} // namespace

statements::statements(pqxx::connection_base& connection, bool& explicit_begin)
  : transaction_{connection}, explicit_begin_{explicit_begin} {}

pqxx::result statements::begin(const std::string& sql) {
  begun_ = true;
  return transaction_.exec(sql);
}

void statements::begin() { begin(std::string{begin_read_committed}); }

pqxx::result statements::script(const std::string& sql) {
  return transaction_.exec(sql);
}

void statements::commit() {
  stage_ = statement_stage::committing;
  transaction_.exec("COMMIT");
  stage_ = statement_stage::open;
  begun_ = false;
}

connection::connection(const postgres_options& options,
                       std::shared_ptr<call_interrupt> interrupt)
  : settings_{connection_settings(options)}, shown_url_{mask_url(options.url)},
    interrupt_{std::move(interrupt)} {}

connection::~connection() = default;

void connection::drop() noexcept {
  active_.reset();
  link_.reset();
}

statements& connection::start() {
  last_sqlstate_.clear(); // of an earlier call; says nothing about this one
  if (interrupted())
    throw error{code::database_interrupted, std::string{gave_up}};
  // A server that went away while the connection was idle is often noticed
  // only here. Nothing was begun: a new connection makes up for it.
  if (!link_ || !begin_transaction()) {
    drop();
    link_ = connect(settings_, shown_url_, interrupt_);
    if (!begin_transaction())
      throw error{code::database_interrupted,
                  "the new connection was closed at once"};
  }
  return *active_;
}

bool connection::begin_transaction() {
  try {
    active_ = std::make_unique<statements>(*link_, explicit_begin_);
    return true;
  } catch (const pqxx::broken_connection&) {
    return false;
  }
}

void connection::end() noexcept {
  if (!active_)
    return;
  try {
    if (active_->begun())
      active_->script("ROLLBACK");
    active_.reset();
  } catch (...) {
    // Closing the connection rolls back as well.
    drop();
  }
}

void connection::fail(code missing) {
  const auto stage = active_->stage();
  auto why = [&] {
    try {
      return current_cause();
    } catch (...) {
      last_sqlstate_.clear();
      throw;
    }
  }();
  last_sqlstate_ = why.sqlstate;
  if (interrupted() && why.sqlstate.empty())
    why.text = gave_up;
  // A loss is noticed by the socket, or said by a server about to hang up. A
  // server that only reads is left, so that the next attempt finds the primary.
  if (!link_->is_open() || why.sqlstate.empty()
      || why.sqlstate.starts_with("57P") || why.sqlstate == "25006")
    drop();
  throw_error(why, stage, missing);
}

void rethrow_as_error(statement_stage stage, code missing) {
  throw_error(current_cause(), stage, missing);
}

} // namespace sqlstreams
