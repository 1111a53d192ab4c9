#include "actors/transactions.hpp"

#include "actors/retry_schedule.hpp"
#include "config/error.hpp"
#include "storage/postgres/connection.hpp"
#include "storage/postgres/produce_in_tx.hpp"
#include "storage/postgres/transaction_outcome.hpp"

#include <pqxx/except>

#include <exception>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

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

struct transactions::connections {
  postgres_options options;
  retry_policy retry;
  std::mutex mutex;
  std::vector<std::unique_ptr<connection>> idle;

  std::unique_ptr<connection> take() {
    const std::lock_guard lock{mutex};
    if (idle.empty())
      return std::make_unique<connection>(options);
    auto taken = std::move(idle.back());
    idle.pop_back();
    return taken;
  }

  void give_back(std::unique_ptr<connection> taken) {
    const std::lock_guard lock{mutex};
    idle.push_back(std::move(taken));
  }

  /// Runs the work once.
  /// @returns the database's failure
  std::optional<error> attempt(const transaction_work& work) {
    auto link = take();
    transaction_run run;
    std::optional<error> failure;
    try {
      run_in_transaction(*link, work, run);
    } catch (const error& e) {
      failure = settle_doubt(*link, run, e);
      link->drop(); // the next run may find a better server
    }
    give_back(std::move(link));
    if (run.thrown)
      std::rethrow_exception(run.thrown);
    return failure;
  }
};

transactions::transactions(postgres_options options, const retry_policy& retry)
  : connections_{std::make_unique<connections>()} {
  connections_->options = std::move(options);
  connections_->retry = retry;
}

transactions::~transactions() = default;

void transactions::run(const transaction_work& work) {
  retry_schedule retries{connections_->retry, std::random_device{}()};
  for (int attempts = 1;; ++attempts) {
    const auto failure = connections_->attempt(work);
    if (!failure)
      return;
    const auto pause =
      retries.next(attempts, failure->recover(), repeatability::if_not_done);
    if (!pause)
      throw *failure;
    std::this_thread::sleep_for(*pause);
  }
}

std::vector<produced>
transactions::produce(pqxx::transaction_base& transaction,
                      const stream_info& stream,
                      const std::vector<new_message>& messages) const {
  return produce_in_tx(transaction, connections_->options.schema, stream.id,
                       messages);
}

} // namespace sqlstreams
