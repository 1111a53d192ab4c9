// Many producers with random holds and rollbacks against claims, while a
// transaction elsewhere stays open: what is committed is claimed exactly once,
// in order, and nothing else is.

#include "config/error.hpp"
#include "storage/postgres/produce_in_tx.hpp"
#include "tests/storage/postgres_installation.hpp"

#include <catch2/catch.hpp>

#include <pqxx/connection>
#include <pqxx/transaction>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <random>
#include <set>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

constexpr int producer_count = 16;
constexpr int claimer_count = 2;
constexpr int transactions_each = 60;

unsigned chosen_seed() {
  if (const char* given = std::getenv("SQLSTREAMS_TEST_SEED"))
    return static_cast<unsigned>(std::strtoul(given, nullptr, 10));
  return std::random_device{}();
}

/// What the threads report; ids only.
class ledger {
public:
  void add(const std::vector<message_id>& ids) {
    const std::lock_guard lock{mutex_};
    all_.insert(all_.end(), ids.begin(), ids.end());
  }

  [[nodiscard]] std::vector<message_id> sorted() const {
    auto copy = all_;
    std::sort(copy.begin(), copy.end());
    return copy;
  }

private:
  std::mutex mutex_;
  std::vector<message_id> all_;
};

/// One transaction of several calls: other producers draw in between.
void produce_once(const postgres_installation& system,
                  pqxx::connection& connection, std::mt19937& random,
                  ledger& committed) {
  pqxx::work transaction{connection};
  std::vector<message_id> ids;
  const auto calls = 1 + random() % 3;
  for (unsigned call = 0; call < calls; ++call) {
    const auto count = 1 + static_cast<int>(random() % 4);
    for (const auto id :
         ids_of(produce_in_tx(transaction, system.schema(), system.stream.id,
                              numbered_messages(count))))
      ids.push_back(id);
    std::this_thread::sleep_for(std::chrono::microseconds{random() % 3000});
  }
  if (random() % 10 == 0) {
    transaction.abort();
  } else {
    transaction.commit();
    committed.add(ids);
  }
}

void produce_randomly(const postgres_installation& system, unsigned seed,
                      ledger& committed, std::atomic<bool>& refused) {
  std::mt19937 random{seed};
  pqxx::connection connection{database_url()};
  for (int i = 0; i < transactions_each; ++i) {
    try {
      produce_once(system, connection, random, committed);
    } catch (const sqlstreams::error& e) {
      // On a slow machine a partition may come too late: a rollback like any.
      refused = refused || e.recover() != recovery::transient;
    }
  }
}

/// Claims until the producers are done and nothing is left.
void claim_all(const postgres_installation& system, unsigned seed,
               const std::atomic<bool>& produced_all, ledger& claimed,
               std::atomic<bool>& in_order) {
  std::mt19937 random{seed};
  const auto session = system.open();
  message_id last = 0;
  for (;;) {
    const bool was_last_round = produced_all;
    const auto result = system.claim(*session, 1 + random() % 200);
    if (!result.claimed) {
      if (was_last_round && !result.hold && !result.more)
        return;
      continue;
    }
    std::vector<message_id> ids;
    for (const auto& one : result.claimed->messages) {
      in_order = in_order && one.id > last;
      last = one.id;
      ids.push_back(one.id);
    }
    claimed.add(ids);
  }
}

} // namespace

TEST_CASE("every committed message is claimed once, none is invented",
          "[store][stress]") {
  const auto seed = chosen_seed();
  INFO("SQLSTREAMS_TEST_SEED=" << seed);
  const postgres_installation system{{.partition_size = 1000}};
  auto foreign = system.connect();
  foreign("CREATE TABLE {schema}.elsewhere (n int)");
  foreign("BEGIN");
  foreign("INSERT INTO {schema}.elsewhere VALUES (1)");

  ledger committed;
  ledger claimed;
  std::atomic<bool> produced_all = false;
  std::atomic<bool> in_order = true;
  std::atomic<bool> refused = false;
  std::vector<std::thread> producers;
  std::vector<std::thread> claimers;
  for (unsigned i = 0; i < claimer_count; ++i)
    claimers.emplace_back([&, i] {
      claim_all(system, seed + 100 + i, produced_all, claimed, in_order);
    });
  for (unsigned i = 0; i < producer_count; ++i)
    producers.emplace_back(
      [&, i] { produce_randomly(system, seed + i, committed, refused); });
  for (auto& producer : producers)
    producer.join();
  produced_all = true;
  for (auto& claimer : claimers)
    claimer.join();

  const auto expected = committed.sorted();
  CHECK(expected.size() > 1000);
  CHECK(claimed.sorted() == expected);
  CHECK(in_order);
  CHECK_FALSE(refused);
}
