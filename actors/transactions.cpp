#include "actors/transactions.hpp"

#include "actors/retry_schedule.hpp"
#include "config/error.hpp"
#include "storage/postgres/application_work.hpp"
#include "storage/postgres/connection.hpp"
#include "storage/postgres/produce_in_tx.hpp"

#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <utility>

namespace sqlstreams {

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
    struct return_link {
      connections& self;
      std::unique_ptr<connection>& link;
      ~return_link() { self.give_back(std::move(link)); }
    } at_end{*this, link};
    return attempt_work(*link, work);
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
