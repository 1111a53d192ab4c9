#include "storage/postgres/application_work.hpp"

#include "storage/postgres/produce_in_tx.hpp"
#include "storage/postgres/transaction_outcome.hpp"

#include <pqxx/except>

#include <exception>
#include <string>

namespace sqlstreams {

namespace {

/// One run of an application's work.
struct transaction_run {
  transaction_mark mark;
  bool commit_sent = false;
  std::exception_ptr thrown; ///< by the work, on its own account
};

/// Runs the work. What it throws on its own account is put aside, so that it
/// cannot be taken for what the database said, whatever type it has.
/// @returns whether there is something to commit
bool do_work(const transaction_work& work, pqxx::transaction_base& transaction,
             transaction_run& run) {
  try {
    work(transaction);
    return true;
  } catch (const transaction_failed& e) {
    if (e.concerns(transaction))
      throw;
    run.thrown = std::current_exception();
  } catch (const pqxx::failure&) {
    throw;
  } catch (...) {
    run.thrown = std::current_exception();
  }
  return false;
}

/// Begins, and asks for what a lost reply to the COMMIT is looked up by.
std::string begin_text() {
  std::string text{statements::begin_read_committed};
  text.append("; /* transaction */ SELECT ").append(mark_columns);
  return text;
}

void run_in_transaction(connection& link, const transaction_work& work,
                        transaction_run& run) {
  link.transact(
    [&](statements& session) {
      run.mark = read_mark(session.begin(begin_text())[0]);
      if (!do_work(work, session.raw(), run))
        return; // left open, it is rolled back
      // Work that swallowed an error of the database has a transaction that
      // COMMIT would roll back without a complaint; this complains.
      session.script("SELECT 1");
      run.commit_sent = true;
      session.commit();
    },
    code::database_error); // what is missing is the application's
}

/// Finds out whether a transaction whose COMMIT failed took place after all.
/// @returns empty if it did; else its failure, transient if it was rolled back
std::optional<error> settle_doubt(connection& link, const transaction_run& run,
                                  const error& failure) {
  if (failure.recover() != recovery::unknown || !run.commit_sent
      || run.mark.xid.empty())
    return failure;
  switch (ask_outcome(link, run.mark)) {
  case transaction_end::committed: return std::nullopt;
  case transaction_end::aborted:
    return error{code::database_interrupted, failure.detail()};
  case transaction_end::unknown: break;
  }
  return error{code::commit_confirmation_lost, failure.detail()};
}

} // namespace

std::optional<error> attempt_work(connection& link,
                                  const transaction_work& work) {
  transaction_run run;
  std::optional<error> failure;
  try {
    run_in_transaction(link, work, run);
  } catch (const error& e) {
    failure = settle_doubt(link, run, e);
    link.drop(); // the next run may find a better server
  }
  if (run.thrown)
    std::rethrow_exception(run.thrown);
  return failure;
}

} // namespace sqlstreams
