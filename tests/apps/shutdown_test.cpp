// What becomes of a consumer's work when it ends, in order or not.
#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>

#include <csignal>
#include <fstream>
#include <set>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sqlstreams::test;
using json = nlohmann::json;

namespace {

/// Short leases: what a dead consumer held is free again after about a second.
/// A handler may run for long all the same when the group says so.
std::vector<std::string> short_lease() {
  return {"--queue-margin", "300ms",  "--record-margin",
          "200ms",          "--poll", "50ms"};
}

std::vector<std::string> operator+(std::vector<std::string> first,
                                   const std::vector<std::string>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// A handler command that says when it starts and ends when it is released.
class gate {
public:
  explicit gate(const std::string& folder) : path_{folder + "/gate"} {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
  }
  [[nodiscard]] std::vector<std::string> handler() const {
    return {"--handler",
            "exec",
            "--",
            "sh",
            "-c",
            "echo started $SQLSTREAMS_ID; read line < " + path_
              + "; echo released"};
  }
  ~gate() {
    // A handler that a failed test left waiting must not stay for ever.
    const int fd = ::open(path_.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    if (fd >= 0)
      ::close(fd);
  }
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;

  /// Opening waits until a handler waits, too.
  void release() const { std::ofstream{path_} << "go\n"; }

private:
  std::string path_;
};

/// A handler command that ignores SIGTERM, and its child that does likewise.
class deaf_command {
public:
  explicit deaf_command(const std::string& folder)
    : path_{folder + "/lifeline"} {
    REQUIRE(::mkfifo(path_.c_str(), 0600) == 0);
    lifeline_ = ::open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    REQUIRE(lifeline_ >= 0);
  }
  ~deaf_command() { ::close(lifeline_); }
  deaf_command(const deaf_command&) = delete;
  deaf_command& operator=(const deaf_command&) = delete;

  [[nodiscard]] std::vector<std::string> handler() const {
    return {"--handler",
            "exec",
            "--",
            "sh",
            "-c",
            "trap '' TERM; exec 3> " + path_
              + "; echo started; sleep 300; exit 0"};
  }

  /// Waits until nobody holds the lifeline any more.
  /// @pre it has started
  [[nodiscard]] bool ended() const {
    pollfd held{lifeline_, POLLIN, 0};
    return ::poll(&held, 1, 60'000) == 1 && (held.revents & POLLHUP) != 0;
  }

private:
  std::string path_;
  int lifeline_ = -1;
};

const std::vector<std::string> work{"consume", "orders", "--group", "billing"};

std::vector<std::int64_t> attempts(const std::vector<json>& messages) {
  std::vector<std::int64_t> result;
  for (const auto& message : messages)
    result.push_back(message["attempt"].get<std::int64_t>());
  return result;
}

std::string lines(int count) {
  std::string text;
  for (int n = 1; n <= count; ++n)
    text += std::to_string(n) + '\n';
  return text;
}

} // namespace

SCENARIO("a killed consumer's work is finished by another", "[cli]") {
  GIVEN("a consumer that is killed while its handler runs") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "message = { timeout = \"1s\" }\n");
    cli.expect({"produce", "orders", "--stdin"}, lines(20));
    gate handlers{cli.folder()};
    child_process first{cli.line(work + short_lease() + handlers.handler())};
    first.wait_for_output("started 1\n");
    first.signal(SIGKILL);
    handlers.release(); // the command has outlived its consumer
    CHECK(first.wait().status == 128 + SIGKILL);

    WHEN("another consumes") {
      const auto result =
        cli.run(work + short_lease()
                + std::vector<std::string>{"--max", "20", "--output", "json"});
      THEN("it gets everything after the lease") {
        INFO(result.err);
        CHECK(result.status == 0);
        const auto handled = json_lines(result.out);
        REQUIRE(handled.size() == 20);
        std::set<int> payloads;
        for (const auto& message : handled)
          payloads.insert(message["payload"].get<int>());
        CHECK(payloads.size() == 20);
        const auto lag = cli.lag("orders", "billing");
        CHECK(lag["backlog"] == 0);
        CHECK(lag["open_leases"] == 0);
      }
    }
  }
}

SCENARIO("a consumer that is asked to stop hands its rest over", "[cli]") {
  GIVEN("a consumer with one message running and nine waiting, one idle") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "message = { timeout = \"20s\" }\n");
    cli.expect({"produce", "orders", "--stdin"}, lines(10));
    gate handlers{cli.folder()};
    child_process first{
      cli.line(work + std::vector<std::string>{"--log-level", "info"}
               + handlers.handler())};
    first.wait_for_output("started 1\n");
    child_process second{
      cli.line(work
               + std::vector<std::string>{"--max", "9", "--poll", "50ms",
                                          "--output", "json"})};

    WHEN("the first is asked to stop and its handler comes to an end") {
      first.signal(SIGTERM);
      first.wait_for_error_output("a consumer session stops");
      handlers.release();
      const auto ended = first.wait();
      THEN("it ends well, and the second does the rest as a first attempt") {
        INFO(ended.err);
        CHECK(ended.status == 0);
        CHECK(ended.out == "started 1\nreleased\n");
        const auto result = second.wait();
        CHECK(result.status == 0);
        CHECK(attempts(json_lines(result.out))
              == std::vector<std::int64_t>(9, 0));
        CHECK(cli.lag("orders", "billing")["backlog"] == 0);
      }
    }
  }

  GIVEN("an idle consumer") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n");
    child_process consumer{cli.line(work)};
    cli.expect({"produce", "orders", "1"});
    consumer.wait_for_output("1 1\n");
    WHEN("it is interrupted") {
      consumer.signal(SIGINT);
      THEN("it ends at once and well") {
        CHECK(consumer.wait(std::chrono::seconds{10}).status == 0);
      }
    }
  }
}

SCENARIO("a second signal ends a consumer at once", "[cli]") {
  GIVEN("a consumer that waits for a handler to end") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "message = { timeout = \"10m\" }\n");
    cli.expect({"produce", "orders", "1"});
    gate handlers{cli.folder()};
    child_process consumer{cli.line(work + handlers.handler())};
    consumer.wait_for_output("started 1\n");
    consumer.signal(SIGTERM);
    WHEN("the signal comes again and again") {
      // Two that come at once count as one, so it is repeated until it is seen.
      for (int i = 0; i < 20 && !consumer.ended(std::chrono::seconds{1}); ++i)
        consumer.signal(SIGTERM);
      THEN("the status names it") {
        CHECK(consumer.wait().status == 128 + SIGTERM);
      }
    }
  }
}

SCENARIO("no command outlives its consumer", "[cli]") {
  GIVEN("a consumer with a handler that ignores SIGTERM") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "message = { timeout = \"10m\" }\n");
    cli.expect({"produce", "orders", "1"});
    const deaf_command deaf{cli.folder()};
    const std::vector<std::string> soon{"--shutdown-timeout", "200ms"};

    WHEN("the time for shutting down is over") {
      child_process consumer{cli.line(work + soon + deaf.handler())};
      consumer.wait_for_output("started");
      consumer.signal(SIGTERM);
      const auto ended = consumer.wait();
      THEN("nothing of the command is left") {
        INFO(ended.err);
        CHECK(ended.status == 0);
        CHECK(deaf.ended());
      }
      THEN("its message comes again as a first attempt") {
        const auto again = cli.run(
          work + std::vector<std::string>{"--max", "1", "--output", "json"});
        CHECK(attempts(json_lines(again.out)) == std::vector<std::int64_t>{0});
      }
    }
    WHEN("a second signal ends the consumer") {
      child_process consumer{cli.line(work + deaf.handler())};
      consumer.wait_for_output("started");
      for (int i = 0; i < 20 && !consumer.ended(std::chrono::seconds{1}); ++i)
        consumer.signal(SIGTERM);
      CHECK(consumer.wait().status == 128 + SIGTERM);
      THEN("nothing of the command is left") { CHECK(deaf.ended()); }
    }
  }

  GIVEN("a consumer that ends by itself after a message") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "message = { timeout = \"100ms\" }\n");
    cli.expect({"produce", "orders", "1"});
    const deaf_command deaf{cli.folder()};
    WHEN("that message was over time") {
      child_process consumer{cli.line(
        work + std::vector<std::string>{"--max", "1"} + deaf.handler())};
      // Its output ends with the command, so it is not waited for.
      CHECK(consumer.ended(child_process::patience));
      THEN("nothing of the command is left") {
        CHECK(consumer.wait().status == 0);
        CHECK(deaf.ended());
      }
    }
  }
}
