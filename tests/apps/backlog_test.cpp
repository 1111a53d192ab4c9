// A large backlog is worked off piece by piece: what a consumer holds at once
// is bounded by its queue, not by what waits for it.
#include "actors/client.hpp"
#include "actors/log.hpp"
#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>
#include <pqxx/connection>
#include <pqxx/nontransaction>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stdexcept>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

constexpr int backlog = 1'000'000;
constexpr int first_part = 50'000;
constexpr std::size_t payload_bytes = sizeof R"({"n": 1})" - 1;

/// Far below what the messages of the backlog would take.
constexpr std::size_t memory_limit = std::size_t{200} << 20;

/// Lines of the log, which this test does not want on the terminal.
struct quiet_log {
  quiet_log() {
    redirect_log([](const log_line&) {});
  }
  ~quiet_log() { redirect_log({}); }
};

void produce_backlog(const command_line& cli) {
  pqxx::connection connection{database_url()};
  pqxx::nontransaction sql{connection};
  const auto stream =
    sql.exec1("SELECT id FROM " + cli.schema() + ".stream_config")[0]
      .as<std::string>();
  sql.exec("INSERT INTO " + cli.schema() + ".message_log_" + stream
           + R"( (payload) SELECT '{"n": 1}' FROM generate_series(1, )"
           + std::to_string(backlog) + ")");
}

/// A handler that ends one message at a time, when it is told to.
class paced_handler {
public:
  outcome operator()(delivery&) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return allowed_ > handled_; });
    ++handled_;
    changed_.notify_all();
    return done();
  }

  /// Lets one more message end.
  /// @returns how many have
  std::size_t end_one() {
    std::unique_lock lock{mutex_};
    ++allowed_;
    changed_.notify_all();
    if (!changed_.wait_for(lock, child_process::patience,
                           [&] { return handled_ == allowed_; }))
      throw std::runtime_error("no message came");
    return handled_;
  }

  void end_all() {
    const std::lock_guard lock{mutex_};
    allowed_ = backlog;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t allowed_ = 0;
  std::size_t handled_ = 0;
};

/// Handles messages slowly for a while, then stops.
/// @returns how many claimed ones waited at most
std::size_t most_waiting(const raw_group& group,
                         const consume_options& options) {
  const auto handler = std::make_shared<paced_handler>();
  auto running = group.open().start(
    [handler](delivery& run) { return (*handler)(run); }, {options});
  struct release {
    paced_handler& held;
    ~release() { held.end_all(); }
  } at_end{*handler};
  std::size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    const auto handled = handler->end_one();
    const auto claimed = running.totals().claimed;
    most = std::max<std::size_t>(
      most, claimed - std::min<std::size_t>(claimed, handled));
  }
  running.stop();
  handler->end_all();
  running.wait();
  return most;
}

void check_fast_consumer(const command_line& cli, const raw_group& group) {
  child_process consumer{cli.line({"consume", "orders", "--group", "billing",
                                   "--max", std::to_string(first_part)})};
  message_id most_open = 0;
  while (!consumer.ended(std::chrono::milliseconds{20})) {
    const auto lag = group.lag();
    most_open = std::max(most_open, lag.claimed - lag.committed);
  }
  const auto result = consumer.wait();
  INFO(result.err);
  CHECK(result.status == 0);
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') == first_part);
  CHECK(most_open <= first_part / 5);
#ifndef __SANITIZE_ADDRESS__ // which keeps freed memory for a while
  CHECK(result.peak_memory_bytes > 0);
  CHECK(result.peak_memory_bytes < memory_limit);
#endif

  const auto lag = group.lag();
  CHECK(lag.claimed == first_part);
  CHECK(lag.committed == first_part);
  CHECK(lag.open_leases == 0);
}

} // namespace

TEST_CASE("a backlog of a million messages does not grow a consumer",
          "[cli][backlog]") {
  const quiet_log quiet;
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n");
  produce_backlog(cli);
  const client db{
    {.url = database_url(), .schema = cli.schema(), .max_connections = 2}};
  const auto group = db.stream("orders").consumer("billing");

  check_fast_consumer(cli, group);

  consume_options few;
  few.batch_limit = 20;
  few.queue_size = 50;
  const auto messages = most_waiting(group, few);
  CHECK(messages >= 19); // the rest of a first claim
  CHECK(messages <= 51); // and the one that runs

  consume_options small;
  small.batch_limit = 1000;
  small.queue_bytes = 100 * payload_bytes;
  const auto bytes = most_waiting(group, small) * payload_bytes;
  CHECK(bytes > 0);
  CHECK(bytes <= 101 * payload_bytes); // a claim may end with the one too many

  const auto lag = group.lag();
  CHECK(lag.head == backlog);
  CHECK(lag.committed >= first_part + 800);
  CHECK(lag.claimed < first_part + 10'000);
}
