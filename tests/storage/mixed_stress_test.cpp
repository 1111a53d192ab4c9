// Producers and consumers that do by chance all that they may do: each message
// that was committed ends once, as done or as dead, and nothing else is
// delivered.

#include "tests/storage/random_consumer.hpp"
#include "tests/storage/random_producer.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

using ids = std::vector<message_id>;

constexpr unsigned producer_count = 5;
constexpr unsigned consumer_count = 3;
constexpr int producer_steps = 60;
constexpr int last_consumer_steps = 60;

/// Not limits of time, but of patience with a test that hangs.
constexpr std::chrono::seconds patience{60};

ids sorted(ids all) {
  std::sort(all.begin(), all.end());
  return all;
}

ids distinct(ids all) {
  all = sorted(std::move(all));
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

/// What is in one of two sorted lists only, or more often.
ids difference(const ids& one, const ids& other) {
  ids result;
  std::set_symmetric_difference(one.begin(), one.end(), other.begin(),
                                other.end(), std::back_inserter(result));
  return result;
}

/// Lets nothing into the table of leases that overlaps another one.
void forbid_overlaps(const postgres_installation& system) {
  system.connect()("ALTER TABLE {schema}.claim_lease_{stream} ADD EXCLUDE"
                   " USING gist (int8range(low, high, '(]') WITH &&)");
}

/// The parts of an account, one after another.
template <class Who, class Part>
Part collect(const std::vector<std::unique_ptr<Who>>& from,
             const Part& (Who::*account)() const noexcept) {
  Part all;
  for (const auto& one : from) {
    const auto& part = (*one.*account)();
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

/// Producers and consumers of one seed.
class crowd {
public:
  crowd(const postgres_installation& system, unsigned seed) {
    for (unsigned i = 0; i < producer_count; ++i)
      producers_.push_back(std::make_unique<random_producer>(
        system, seed * 1000 + i, system.schema() + "_" + std::to_string(i)));
    for (unsigned i = 0; i < consumer_count; ++i)
      consumers_.push_back(
        std::make_unique<random_consumer>(system, seed * 1000 + 500 + i));
  }

  /// @returns what went wrong in a thread
  std::vector<std::string> run() {
    failures_.resize(producer_count + consumer_count);
    std::vector<std::thread> producing;
    std::vector<std::thread> consuming;
    for (unsigned i = 0; i < consumer_count; ++i)
      consuming.emplace_back(
        [this, i] { guard(i, [&] { consume(*consumers_[i]); }); });
    for (unsigned i = 0; i < producer_count; ++i)
      producing.emplace_back([this, i] {
        guard(consumer_count + i, [&] { produce(*producers_[i]); });
      });
    for (auto& thread : producing)
      thread.join();
    produced_all_ = true;
    for (auto& thread : consuming)
      thread.join();
    std::erase(failures_, "");
    return failures_;
  }

  random_consumer& last() { return *consumers_.front(); }

  [[nodiscard]] ids committed() const {
    return collect(producers_, &random_producer::committed);
  }
  [[nodiscard]] ids delivered() const {
    return collect(consumers_, &random_consumer::delivered);
  }
  [[nodiscard]] ids done() const {
    return collect(consumers_, &random_consumer::done);
  }
  [[nodiscard]] std::vector<std::string> complaints() const {
    return collect(consumers_, &random_consumer::complaints);
  }

private:
  void guard(std::size_t place, const std::function<void()>& work) {
    try {
      work();
    } catch (const std::exception& e) {
      failures_[place] = e.what();
    }
  }

  static void produce(random_producer& who) {
    for (int i = 0; i < producer_steps; ++i)
      who.step();
    who.finish();
  }

  void consume(random_consumer& who) {
    while (!produced_all_)
      who.step();
    for (int i = 0; i < last_consumer_steps; ++i)
      who.step();
    who.finish();
  }

  std::vector<std::unique_ptr<random_producer>> producers_;
  std::vector<std::unique_ptr<random_consumer>> consumers_;
  std::atomic<bool> produced_all_ = false;
  std::vector<std::string> failures_; ///< a place a thread
};

/// A visible end, so that no hole is left behind it.
message_id produce_last(const postgres_installation& system) {
  return system.produce(1).front();
}

/// Handles what is left, leases that have to run out included.
void drain(const postgres_installation& system, random_consumer& consumer,
           message_id end) {
  const auto until = std::chrono::steady_clock::now() + patience;
  group_lag lag;
  do {
    consumer.drain();
    lag = system.session->lag(system.stream.id, system.group.id);
  } while ((lag.committed < end || lag.open_leases > 0)
           && std::chrono::steady_clock::now() < until);
  CHECK(lag.claimed == end);
  CHECK(lag.committed == end);
  CHECK(lag.head == end);
  CHECK(lag.backlog == 0);
  CHECK(lag.open_leases == 0);
  CHECK(lag.ready + lag.inflight + lag.deferred == 0);
}

ids query(const postgres_installation& system, const std::string& sql) {
  ids found;
  for (const auto& row : system.connect()(sql))
    found.push_back(row[0].as<message_id>());
  return found;
}

void check_account(const postgres_installation& system, const crowd& all,
                   message_id last) {
  const auto logged =
    query(system, "SELECT id FROM {schema}.message_log_{stream} ORDER BY id");
  auto committed = all.committed();
  committed.push_back(last);
  CHECK(difference(sorted(committed), logged) == ids{});
  CHECK(difference(distinct(all.delivered()), logged) == ids{});

  const auto dead =
    query(system, "SELECT message_id FROM {schema}.exception_queue_{stream}"
                  " WHERE status = 'dead'");
  auto ended = all.done();
  ended.insert(ended.end(), dead.begin(), dead.end());
  CHECK(difference(sorted(ended), logged) == ids{});
  // The mix was one.
  CHECK(logged.size() > 1000);
  CHECK(!dead.empty());
  CHECK(all.delivered().size() > logged.size());
}

void run_with(unsigned seed) {
  INFO("SQLSTREAMS_TEST_SEED=" << seed);
  const postgres_installation system{{.partition_size = 2000}};
  forbid_overlaps(system);
  crowd all{system, seed};
  CHECK(all.run() == std::vector<std::string>{});
  const auto last = produce_last(system);
  drain(system, all.last(), last);
  CHECK(all.complaints() == std::vector<std::string>{});
  check_account(system, all, last);
}

} // namespace

TEST_CASE("whatever producers and consumers do, each message ends once",
          "[store][stress]") {
  if (const char* given = std::getenv("SQLSTREAMS_TEST_SEED"))
    return run_with(static_cast<unsigned>(std::strtoul(given, nullptr, 10)));
  const auto seed = GENERATE(1u, 2u, 3u);
  run_with(seed);
}
