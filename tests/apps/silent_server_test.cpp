// A server that is there and does not answer: stopped, or behind a network that
// swallows everything. Nothing that waits for it may wait for ever.
#include "tests/support/child_process.hpp"
#include "tests/support/scratch_folder.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

namespace {

using words = std::vector<std::string>;

/// A private server of one test, with a stream, whose processes can be stopped.
class stoppable_server {
public:
  stoppable_server() {
    // The server runs as another user where the test is root.
    std::filesystem::permissions(here_.path(), std::filesystem::perms{0755});
    const auto started =
      json::parse(dev({"start", "--set=fsync=off", "--set=autovacuum=off"}));
    pid_ = started["pid"].get<pid_t>();
    url_ = started["url"].get<std::string>();
    std::ofstream{file()} << "[database]\nretry = { max_retries = 1 }\n"
                             "[streams.orders.groups.billing]\n";
    expect(line({"apply", file()}));
  }
  ~stoppable_server() {
    resume();
    run_command({.argv = dev_line({"destroy"})});
  }
  stoppable_server(const stoppable_server&) = delete;
  stoppable_server& operator=(const stoppable_server&) = delete;

  [[nodiscard]] command line(words what) const {
    command result;
    result.argv = {SQLSTREAMS_BIN};
    result.argv.insert(result.argv.end(), what.begin(), what.end());
    result.environment["SQLSTREAMS_DATABASE_URL"] = url_;
    return result;
  }

  [[nodiscard]] std::string file() const {
    return here_.path() / "orders.toml";
  }

  /// The postmaster first: it starts no more processes then.
  void stop() {
    stopped_ = {pid_};
    ::kill(pid_, SIGSTOP);
    const auto pid = std::to_string(pid_);
    std::ifstream children{"/proc/" + pid + "/task/" + pid + "/children"};
    for (pid_t child = 0; children >> child;) {
      stopped_.push_back(child);
      ::kill(child, SIGSTOP);
    }
    REQUIRE(stopped_.size() > 1);
  }

  void resume() {
    for (const auto pid : stopped_)
      ::kill(pid, SIGCONT);
    stopped_.clear();
  }

  static std::string expect(const command& what) {
    const auto result = run_command(what);
    if (result.status != 0)
      throw std::runtime_error{result.err};
    return result.out;
  }

private:
  [[nodiscard]] words dev_line(words verb) const {
    words line{SQLSTREAMS_BIN, "--output=json", "dev",
               verb.front(),   "--data",        here_.path() / "pg"};
    line.insert(line.end(), verb.begin() + 1, verb.end());
    return line;
  }
  [[nodiscard]] std::string dev(words verb) const {
    return expect({.argv = dev_line(std::move(verb))});
  }

  scratch_folder here_;
  pid_t pid_ = 0;
  std::string url_;
  std::vector<pid_t> stopped_;
};

/// Accepts connections and says nothing.
class silent_listener {
public:
  silent_listener() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* any = reinterpret_cast<sockaddr*>(&address);
    if (::bind(listener_, any, size) != 0 || ::listen(listener_, 8) != 0
        || ::getsockname(listener_, any, &size) != 0)
      throw std::runtime_error{"no socket to listen on"};
    port_ = ntohs(address.sin_port);
  }
  ~silent_listener() { ::close(listener_); }
  silent_listener(const silent_listener&) = delete;
  silent_listener& operator=(const silent_listener&) = delete;

  /// An address under which connecting would take ten minutes.
  [[nodiscard]] std::string url() const {
    return "postgres://nobody@127.0.0.1:" + std::to_string(port_)
           + "/none?connect_timeout=600&sslmode=disable";
  }

  /// Waits for a client; its connection stays in the queue, unanswered.
  void wait_for_client() const {
    pollfd come{listener_, POLLIN, 0};
    REQUIRE(::poll(&come, 1, 60'000) == 1);
  }

private:
  int listener_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int port_ = 0;
};

} // namespace

SCENARIO("a consumer ends in time although its server does not answer",
         "[cli]") {
  GIVEN("a consumer whose server stops answering") {
    stoppable_server server;
    server.expect(server.line({"produce", "orders", "1"}));
    child_process consumer{
      server.line({"consume", "orders", "--group", "billing", "--poll", "50ms",
                   "--shutdown-timeout", "2s"})};
    consumer.wait_for_output("1 1\n");
    server.stop();
    WHEN("it is asked to stop") {
      consumer.signal(SIGTERM);
      const auto ended = consumer.wait();
      THEN("it ends well, and nothing is left behind") {
        INFO(ended.err);
        CHECK(ended.status == 0);
        CHECK_THAT(ended.err, !Contains("left behind"));
        AND_THEN("the server, when it goes on, has lost nothing") {
          server.resume();
          server.expect(server.line({"produce", "orders", "2"}));
          CHECK(server.expect(server.line(
                  {"consume", "orders", "--group", "billing", "--max", "1"}))
                == "2 2\n");
        }
      }
    }
  }

  GIVEN("a consumer that is still connecting") {
    const silent_listener silent;
    const auto what = GENERATE(words{"--group", "billing"}, words{"--tail"});
    words argv{SQLSTREAMS_BIN, "--database-url", silent.url(), "consume",
               "orders"};
    argv.insert(argv.end(), what.begin(), what.end());
    child_process consumer{{.argv = argv}};
    silent.wait_for_client();
    WHEN("it is asked to stop") {
      consumer.signal(SIGTERM);
      THEN("it ends well, with nothing to complain about") {
        const auto ended = consumer.wait();
        CHECK(ended.status == 0);
        CHECK(ended.err.empty());
      }
    }
  }
}

SCENARIO("producing ends although the server does not answer", "[cli]") {
  GIVEN("a program that produces line by line, whose server stops answering") {
    stoppable_server server;
    child_process producer{
      server.line({"--output=json", "--config", server.file(), "produce",
                   "orders", "--stdin"}),
      true};
    producer.write("1\n");
    producer.wait_for_output("\"id\":1");
    server.stop();
    WHEN("it produces another line") {
      producer.write("2\n");
      producer.close_input();
      const auto ended = producer.wait();
      THEN("it says so, and whether it may be repeated") {
        INFO(ended.err);
        CHECK(ended.status == 1);
        const auto said = ended.err.substr(ended.err.find("{\"error\""));
        const auto failure = json::parse(said)["error"];
        CHECK_THAT(failure["detail"].get<std::string>(), Contains("line 2"));
        CHECK((failure["recovery"] == "transient"
               || failure["recovery"] == "unknown"));
      }
    }
  }
}
