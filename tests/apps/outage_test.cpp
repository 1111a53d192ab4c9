// The server goes away for some seconds while messages are produced and
// consumed.
#include "apps/dev_server/private_server.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/scratch_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using json = nlohmann::json;

namespace {

/// A server of the test's own, which it may stop, with stream `orders` and
/// group `billing`.
class stoppable_server {
public:
  stoppable_server()
    : server_{{.folder = folder_.path() / "pg",
               // No power is cut here, only processes end.
               .settings = {"fsync=off"}}} {
    // The server runs as another user than root.
    std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
    server_.start();
    url_ = server_.url();
    const auto file = folder_.path() / "declared.toml";
    std::ofstream{file} << "[streams.orders.groups.billing]\n"
                           "message = { timeout = \"1s\" }\n";
    const auto applied = run_command(line({"apply", file}));
    INFO(applied.err);
    REQUIRE(applied.status == 0);
  }
  ~stoppable_server() {
    try {
      server_.destroy();
    } catch (const std::exception&) {
      // What went wrong before is what counts.
    }
  }
  stoppable_server(const stoppable_server&) = delete;
  stoppable_server& operator=(const stoppable_server&) = delete;

  void stop(stop_mode mode) { server_.stop(mode); }
  void start() {
    server_.start();
    REQUIRE(server_.url() == url_); // nobody took the port meanwhile
  }

  [[nodiscard]] command line(std::vector<std::string> words) const {
    command what;
    what.argv = {SQLSTREAMS_BIN};
    what.argv.insert(what.argv.end(), words.begin(), words.end());
    what.environment["SQLSTREAMS_DATABASE_URL"] = url_;
    return what;
  }

  /// Waits until the group has handled everything.
  void wait_until_handled() const {
    const auto until = std::chrono::steady_clock::now() + 120s;
    json lag;
    do {
      const auto result = run_command(
        line({"consumer", "lag", "orders", "billing", "--output", "json"}));
      INFO(result.err);
      REQUIRE(result.status == 0);
      lag = json::parse(result.out);
      if (lag["backlog"] == 0)
        return;
    } while (std::chrono::steady_clock::now() < until);
    FAIL("not everything was handled: " << lag.dump());
  }

private:
  scratch_folder folder_;
  private_server server_;
  std::string url_;
};

/// Gives a producer lines with the numbers from 1 on, a few at a time, so that
/// there always are some that it has not acknowledged yet.
class line_feeder {
public:
  explicit line_feeder(child_process& to)
    : to_{to}, thread_{[this] {
        feed();
      }} {}
  ~line_feeder() { stop(); }
  line_feeder(const line_feeder&) = delete;
  line_feeder& operator=(const line_feeder&) = delete;

  /// @returns how many lines it gave
  int stop() {
    stopped_ = true;
    if (thread_.joinable())
      thread_.join();
    return lines_;
  }

private:
  void feed() {
    static constexpr int at_once = 5;
    try {
      while (!stopped_) {
        std::string text;
        for (int i = 0; i < at_once; ++i)
          text += std::to_string(++lines_) + '\n';
        to_.write(text);
        to_.wait_for_output("\n", static_cast<std::size_t>(lines_ - at_once),
                            120s);
      }
    } catch (const std::exception&) {
      // The producer has ended: its exit status is what the test sees.
    }
  }

  child_process& to_;
  std::atomic<bool> stopped_ = false;
  int lines_ = 0;
  std::thread thread_;
};

std::size_t count_lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// Waits until a program has printed so many lines more than now.
void wait_for_more(child_process& program, std::size_t lines) {
  program.wait_for_output("\n", count_lines(program.output_so_far()) + lines,
                          120s);
}

/// Waits until the producer says that the server does not answer. If it has to
/// find out what became of a commit it says so only when it knows.
bool notices_outage(child_process& producer) {
  try {
    producer.wait_for_error_output("connection_lost", 1, 5s);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// The ids of the producer's lines of JSON.
std::vector<std::int64_t> acknowledged(const std::string& out) {
  std::vector<std::int64_t> ids;
  std::istringstream lines{out};
  for (std::string line; std::getline(lines, line);)
    ids.push_back(json::parse(line)["id"].get<std::int64_t>());
  return ids;
}

/// What the consumer printed, once for each message.
struct handled_messages {
  std::set<std::int64_t> ids;
  std::multiset<int> numbers; ///< of the lines
};

handled_messages handled(const std::string& out) {
  handled_messages all;
  std::istringstream lines{out};
  for (std::string text; std::getline(lines, text);) {
    const auto line = json::parse(text);
    if (all.ids.insert(line["id"].get<std::int64_t>()).second)
      all.numbers.insert(line["payload"].get<int>());
  }
  return all;
}

std::multiset<int> numbers_up_to(int last) {
  std::multiset<int> all;
  for (int n = 1; n <= last; ++n)
    all.insert(all.end(), n);
  return all;
}

} // namespace

TEST_CASE("a server that is away for a while costs no message and no process",
          "[cli][outage]") {
  const auto mode = GENERATE(stop_mode::fast, stop_mode::immediate);
  INFO((mode == stop_mode::fast ? "stopped in order" : "as after a crash"));
  stoppable_server server;
  child_process consumer{server.line(
    {"consume", "orders", "--group", "billing", "--output", "json", "--poll",
     "50ms", "--queue-margin", "300ms", "--record-margin", "200ms"})};
  child_process producer{
    server.line({"produce", "orders", "--stdin", "--output", "json"}), true};
  line_feeder feeder{producer};
  wait_for_more(consumer, 200);

  server.stop(mode);
  const bool producer_noticed = notices_outage(producer);
  consumer.wait_for_error_output("connection_lost");
  server.start();

  CHECK_FALSE(producer.ended(0ms));
  CHECK_FALSE(consumer.ended(0ms));
  wait_for_more(producer, 200);
  wait_for_more(consumer, 200);
  const auto lines = feeder.stop();
  producer.close_input();
  const auto produced = producer.wait(120s);
  INFO("the producer had " << (producer_noticed ? "" : "not ")
                           << "noticed; its log:\n"
                           << produced.err);
  CHECK(produced.status == 0);
  server.wait_until_handled();
  consumer.signal(SIGTERM);
  const auto consumed = consumer.wait();
  INFO("the consumer's log:\n" << consumed.err);
  CHECK(consumed.status == 0);

  const auto ids = acknowledged(produced.out);
  CHECK(ids.size() == static_cast<std::size_t>(lines));
  const auto all = handled(consumed.out);
  CHECK(all.ids == std::set<std::int64_t>(ids.begin(), ids.end()));
  CHECK(all.numbers == numbers_up_to(lines));
}
