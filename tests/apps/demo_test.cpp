#include "tests/support/child_process.hpp"
#include "tests/support/test_database.hpp"

#include <catch2/catch.hpp>
#include <libpq-fe.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

/// Also on a machine that is slow and busy.
constexpr auto limit = 240s;

/// The demo with a server of its own, unless a URL is given.
command demo(std::vector<std::string> words, const std::string& url = {}) {
  command what;
  what.argv = {SQLSTREAMS_DEMO};
  what.argv.insert(what.argv.end(), words.begin(), words.end());
  what.environment["SQLSTREAMS_DATABASE_URL"] = url;
  return what;
}

std::string last_line(const std::string& text) {
  const auto end = text.find_last_not_of('\n');
  const auto start = text.rfind('\n', end);
  return text.substr(start + 1, end - start);
}

/// What a run said it had started: processes and the server's folder.
struct traces {
  std::vector<pid_t> processes;
  std::filesystem::path server;
};

traces traces_in(const std::string& output) {
  traces found;
  std::smatch match;
  if (std::regex_search(output, match,
                        std::regex{"PostgreSQL, process (\\d+), in (.*)"})) {
    found.processes.push_back(std::stoi(match[1]));
    found.server = match[2].str();
  }
  if (std::regex_search(output, match,
                        std::regex{"consumer processes are started:(.*)"})) {
    const auto list = match[1].str();
    const std::regex number{"\\d+"};
    for (std::sregex_iterator i{list.begin(), list.end(), number}, end;
         i != end; ++i)
      found.processes.push_back(std::stoi(i->str()));
  }
  return found;
}

/// Whether a process has ended or does so within ten seconds: a server removes
/// its pid file a moment before.
bool gone(pid_t process) {
  const auto handle = static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
  if (handle < 0)
    return errno == ESRCH;
  pollfd ended{handle, POLLIN, 0};
  const auto changed = ::poll(&ended, 1, 10'000);
  ::close(handle);
  return changed == 1;
}

void check_nothing_left(const traces& of) {
  for (const auto process : of.processes)
    CHECK(gone(process));
  CHECK_FALSE(std::filesystem::exists(of.server));
  CHECK_FALSE(std::filesystem::exists(of.server.parent_path()));
}

bool schema_exists(const std::string& name) {
  auto* connection = PQconnectdb(database_url().c_str());
  const auto question =
    "SELECT 1 FROM pg_namespace WHERE nspname = '" + name + "'";
  auto* answer = PQexec(connection, question.c_str());
  REQUIRE(PQresultStatus(answer) == PGRES_TUPLES_OK);
  const bool found = PQntuples(answer) > 0;
  PQclear(answer);
  PQfinish(connection);
  return found;
}

} // namespace

SCENARIO("the demo accounts for every order although a consumer is killed",
         "[demo]") {
  GIVEN("a run in a pipe") {
    const auto result = run_command(demo({"--messages", "2000"}), limit);
    INFO(result.out << result.err);
    THEN("it passes, and its last line is the account") {
      CHECK(result.status == 0);
      CHECK(std::regex_match(
        last_line(result.out),
        std::regex{"demo: produced=2000 handled=2000 lost=0 unexpected=0 "
                   "duplicates=\\d+"}));
      CHECK(result.out.find("kill -9 of consumer") != std::string::npos);
      CHECK(result.out.find('\r') == std::string::npos);
      CHECK(result.out.find('\x1b') == std::string::npos);

      AND_THEN("nothing is left of it") {
        const auto left = traces_in(result.out);
        REQUIRE(left.processes.size() == 4);
        check_nothing_left(left);
      }
    }
  }
}

SCENARIO("the demo clears away when it is interrupted", "[demo]") {
  GIVEN("a run that has started its consumers") {
    child_process run{demo({"--messages", "1000000"})};
    run.wait_for_output("consumer processes are started", 1, limit);
    WHEN("Ctrl-C is pressed") {
      run.signal(SIGINT);
      const auto result = run.wait(limit);
      INFO(result.out << result.err);
      THEN("it says so, and nothing is left") {
        CHECK(result.status == 128 + SIGINT);
        const auto left = traces_in(result.out);
        REQUIRE(left.processes.size() == 4);
        check_nothing_left(left);
      }
    }
  }
}

SCENARIO("the demo uses a given server and leaves no schema", "[demo]") {
  GIVEN("the address of a server") {
    const auto result =
      run_command(demo({"--messages", "200", "--consumers", "1", "--no-kill"},
                       database_url()),
                  limit);
    INFO(result.out << result.err);
    THEN("it passes there") {
      REQUIRE(result.status == 0);
      std::smatch match;
      REQUIRE(std::regex_search(result.out, match,
                                std::regex{"schema (sqlstreams_demo_\\w+)"}));
      CHECK_FALSE(schema_exists(match[1]));
    }
  }
}

TEST_CASE("the demo refuses options that contradict each other", "[demo]") {
  const auto result = run_command(demo({"--consumers", "1"}));
  CHECK(result.status == 2);
  CHECK(result.err.find("--no-kill") != std::string::npos);
}

TEST_CASE("the demo says what is wrong with a given server", "[demo]") {
  const auto result = run_command(
    demo({"--no-kill"}, "postgresql://nobody@127.0.0.1:1/none"), limit);
  INFO(result.err);
  CHECK(result.status == 1);
  CHECK(result.err.find("SQL1020") != std::string::npos);
}
