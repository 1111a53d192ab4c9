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

std::unique_ptr<pqxx::connection> connect(const std::string& settings,
                                          const std::string& shown_url) {
  try {
    auto link = std::make_unique<pqxx::connection>(settings);
    // libpqxx would connect again by itself in the middle of our work, whose
    // transaction is gone by then. Deprecated there, with no successor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    link->inhibit_reactivation(true);
#pragma GCC diagnostic pop
    return link;
  } catch (const pqxx::broken_connection& e) {
    const auto sqlstate = refusal_sqlstate(settings);
    // Nobody answers: that is not an interruption of something.
    const auto meaning = classify_sqlstate(
      sqlstate.empty() ? "08001" : sqlstate, statement_stage::open);
    throw error{meaning.number, meaning.recover,
                shown_url + ": " + first_line(e.what())};
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

connection::connection(const postgres_options& options)
  : settings_{connection_settings(options)}, shown_url_{mask_url(options.url)} {
}

connection::~connection() = default;

void connection::drop() noexcept {
  active_.reset();
  link_.reset();
}

statements& connection::start() {
  last_sqlstate_.clear(); // of an earlier call; says nothing about this one
  if (link_ && !link_->is_open())
    drop();
  if (!link_)
    link_ = connect(settings_, shown_url_);
  active_ = std::make_unique<statements>(*link_, explicit_begin_);
  return *active_;
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
