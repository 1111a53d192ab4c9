// The private server as a user meets it: through `sqlstreams dev`.
#include "apps/dev_server/os_user.hpp"
#include "apps/dev_server/private_server.hpp"
#include "tests/support/child_process.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>

#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

namespace fs = std::filesystem;

/// A folder for one test, which ends the servers in it.
class scratch {
public:
  scratch() {
    auto path = (fs::temp_directory_path() / "sqlstreams-XXXXXX").string();
    if (!mkdtemp(path.data()))
      throw std::runtime_error{"no scratch folder"};
    path_ = path;
    chmod(path.c_str(), 0755);
  }

  ~scratch() {
    for (const auto& folder : servers_)
      dev(folder, {"destroy", "--yes"});
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }

  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  [[nodiscard]] const fs::path& path() const { return path_; }

  /// Names the folder of a server to be destroyed in the end.
  fs::path server(const std::string& name = "pg") {
    servers_.push_back(path_ / name);
    return servers_.back();
  }

  /// Runs a `dev` verb with arguments on a server's folder.
  static command_result dev(const fs::path& folder,
                            std::vector<std::string> words) {
    return run_command({.argv = dev_line(folder, std::move(words))});
  }

  static std::vector<std::string> dev_line(const fs::path& folder,
                                           std::vector<std::string> words) {
    // Durability is not what these tests are about.
    if (words.front() == "start" && words.size() == 1)
      words.emplace_back("--set=fsync=off");
    std::vector<std::string> line{SQLSTREAMS_BIN, "--output=json", "dev",
                                  words.front(),  "--data",        folder};
    line.insert(line.end(), words.begin() + 1, words.end());
    return line;
  }

  /// Runs a verb that must succeed and print JSON.
  static nlohmann::json dev_json(const fs::path& folder,
                                 std::vector<std::string> words) {
    const auto result = dev(folder, std::move(words));
    INFO(result.err);
    REQUIRE(result.status == 0);
    return nlohmann::json::parse(result.out);
  }

  static std::string sql(const fs::path& folder, const std::string& text) {
    const auto result = dev(folder, {"psql", "-qAtc", text});
    INFO(result.err);
    REQUIRE(result.status == 0);
    return result.out;
  }

private:
  fs::path path_;
  std::vector<fs::path> servers_;
};

/// Waits for the end of a process that is no child of ours.
void wait_for_end_of(pid_t pid) {
  const auto handle = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (handle < 0)
    return;
  pollfd ended{handle, POLLIN, 0};
  poll(&ended, 1, 60'000);
  close(handle);
}

/// The command line that runs a program as an unprivileged user.
std::vector<std::string> as_user(const os_user& user,
                                 const std::vector<std::string>& line) {
  std::vector<std::string> full{
    "setpriv", "--reuid=" + std::to_string(user.uid),
    "--regid=" + std::to_string(user.gid), "--clear-groups"};
  full.insert(full.end(), line.begin(), line.end());
  return full;
}

bool is_root() { return geteuid() == 0; }

} // namespace

SCENARIO("starting a private server twice is no mistake", "[dev]") {
  GIVEN("a started server") {
    scratch here;
    const auto folder = here.server();
    const auto first = here.dev_json(folder, {"start"});
    CHECK(first["started"] == true);

    WHEN("it is started again") {
      const auto second = here.dev_json(folder, {"start"});
      THEN("it says that it ran already and is left alone") {
        CHECK(second["started"] == false);
        CHECK(second["running"] == true);
        CHECK(second["pid"] == first["pid"]);
        CHECK(second["url"] == first["url"]);
      }
    }

    THEN("its status and address are told, and it has a database") {
      CHECK(here.dev_json(folder, {"status"})["pid"] == first["pid"]);
      CHECK(here.dev_json(folder, {"url"})["url"] == first["url"]);
      CHECK(here.sql(folder, "SELECT current_database()") == "sqlstreams\n");
    }

    THEN("it listens on the loopback interface alone and asks for a password") {
      CHECK(here.sql(folder, "SHOW listen_addresses") == "127.0.0.1\n");
      CHECK(here.sql(folder, "SELECT DISTINCT auth_method "
                             "FROM pg_hba_file_rules WHERE type = 'host'")
            == "scram-sha-256\n");
    }
  }
}

SCENARIO("stopping a private server twice is no mistake", "[dev]") {
  GIVEN("a server that was stopped") {
    scratch here;
    const auto folder = here.server();
    here.dev_json(folder, {"start"});
    CHECK(here.dev_json(folder, {"stop"})["stopped"] == true);

    THEN("stopping it again says that it does not run") {
      const auto again = here.dev_json(folder, {"stop"});
      CHECK(again["stopped"] == false);
      CHECK(again["running"] == false);
    }
    THEN("its status is told by the exit status, too") {
      CHECK(here.dev(folder, {"status"}).status == 1);
    }
    THEN("asking for its address says how to start it") {
      const auto result = here.dev(folder, {"url"});
      CHECK(result.status == 1);
      const auto failure = nlohmann::json::parse(result.err)["error"];
      CHECK(failure["name"] == "server_not_started");
      CHECK_THAT(failure["fix"].get<std::string>(),
                 Catch::Contains("sqlstreams dev start"));
    }
  }
  GIVEN("a folder that does not exist") {
    scratch here;
    THEN("there is nothing to stop or destroy, and no folder is made") {
      const auto folder = here.path() / "absent";
      CHECK(here.dev_json(folder, {"stop"})["stopped"] == false);
      CHECK(here.dev_json(folder, {"destroy"})["destroyed"] == false);
      CHECK_FALSE(fs::exists(folder));
    }
  }
}

TEST_CASE("a restart keeps data, port and settings", "[dev]") {
  scratch here;
  private_server server{
    {.folder = here.server(), .settings = {"fsync=off", "work_mem=5MB"}}};
  REQUIRE(server.start());
  const auto before = server.status();
  here.sql(before.folder, "CREATE TABLE kept AS SELECT 42 AS answer");

  const auto mode = GENERATE(stop_mode::fast, stop_mode::immediate);
  server.restart(mode);

  const auto after = server.status();
  CHECK(after.running);
  CHECK(after.pid != before.pid);
  CHECK(after.url == before.url);
  CHECK(here.sql(after.folder, "SELECT answer FROM kept") == "42\n");

  // A later start that names no settings.
  server.stop();
  private_server{{.folder = after.folder}}.start();
  CHECK(here.sql(after.folder, "SHOW work_mem") == "5MB\n");
}

SCENARIO("a pid file proves nothing", "[dev]") {
  scratch here;
  const auto folder = here.server();
  const auto first = here.dev_json(folder, {"start"});
  const auto pid = first["pid"].get<pid_t>();

  GIVEN("a server that was killed, so that its pid file is stale") {
    REQUIRE(kill(pid, SIGKILL) == 0);
    wait_for_end_of(pid);
    REQUIRE(fs::exists(folder / "data/postmaster.pid"));

    THEN("it is known not to run") {
      CHECK(here.dev(folder, {"status"}).status == 1);
      CHECK(here.dev_json(folder, {"stop"})["stopped"] == false);
    }
    THEN("it starts again") {
      CHECK(here.dev_json(folder, {"start"})["started"] == true);
      CHECK(here.sql(folder, "SELECT 1") == "1\n");
    }
  }

  GIVEN("a stopped server whose pid was given to another program") {
    here.dev_json(folder, {"stop"});
    std::vector<std::string> line{"cat"};
    if (const auto owner = server_user(folder))
      line = as_user(*owner, line);
    child_process other{{.argv = line}, true};
    for (const auto* name : {"data/postmaster.pid", ".s.PGSQL.lock"})
      std::ofstream{folder / name} << other.pid() << '\n'
                                   << (folder / "data").string()
                                   << "\n1\n1\n\n127.0.0.1\n";

    THEN("the other program is left alone, and the server starts") {
      CHECK(here.dev(folder, {"status"}).status == 1);
      CHECK(here.dev_json(folder, {"stop"})["stopped"] == false);
      CHECK(here.dev_json(folder, {"start"})["started"] == true);
      CHECK(here.dev_json(folder, {"stop"})["stopped"] == true);
      CHECK(kill(other.pid(), 0) == 0);
      other.close_input();
      CHECK(other.wait().status == 0);
    }
  }
}

TEST_CASE("an interrupted set-up is done again", "[dev]") {
  scratch here;
  const auto folder = here.server();
  here.dev_json(folder, {"start"});
  here.dev_json(folder, {"stop"});
  // As a killed initdb leaves it.
  fs::rename(folder / "data", folder / "data.new");
  fs::remove(folder / "data.new/PG_VERSION");

  CHECK(here.dev_json(folder, {"start"})["started"] == true);
  CHECK_FALSE(fs::exists(folder / "data.new"));
  CHECK(here.sql(folder, "SELECT 1") == "1\n");
}

TEST_CASE("of two starts at once one starts the server", "[dev]") {
  scratch here;
  const auto folder = here.server();
  const command start{.argv = here.dev_line(folder, {"start"})};
  child_process first{start};
  child_process second{start};
  const auto results = {first.wait(), second.wait()};
  int started = 0;
  std::set<int> pids;
  for (const auto& result : results) {
    INFO(result.err);
    REQUIRE(result.status == 0);
    const auto json = nlohmann::json::parse(result.out);
    started += json["started"].get<bool>() ? 1 : 0;
    pids.insert(json["pid"].get<int>());
  }
  CHECK(started == 1);
  CHECK(pids.size() == 1);
}

TEST_CASE("missing server programs are named with their package", "[dev]") {
  scratch here;
  const auto result =
    run_command({.argv = here.dev_line(here.server(), {"start"}),
                 .environment = {{"SQLSTREAMS_PG_BIN", here.path().string()}}});
  CHECK(result.status == 1);
  const auto failure = nlohmann::json::parse(result.err)["error"];
  CHECK(failure["name"] == "server_binaries_missing");
  CHECK_THAT(failure["fix"].get<std::string>(),
             Catch::Contains("apt-get install postgresql"));
}

TEST_CASE("a folder with other things in it is refused", "[dev]") {
  scratch here;
  const auto folder = here.path() / "mine";
  fs::create_directory(folder);
  std::ofstream{folder / "letter.txt"} << "dear";
  for (const auto* verb : {"start", "destroy"}) {
    const auto result = here.dev(folder, {verb, "--yes"});
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Catch::Contains("letter.txt"));
  }
  CHECK(fs::exists(folder / "letter.txt"));
}

TEST_CASE("a server setting must have a name and a value", "[dev]") {
  scratch here;
  const auto setting = GENERATE("work_mem", "=5MB", "port=5432", "a b=c");
  const auto folder = here.server();
  CHECK(here.dev(folder, {"start", "--set", setting}).status == 1);
  CHECK_FALSE(fs::exists(folder));
}

TEST_CASE("a server that cannot start shows the end of its log", "[dev]") {
  scratch here;
  const auto folder = here.server();
  const auto result = here.dev(folder, {"start", "--set=work_mem=lots"});
  CHECK(result.status == 1);
  CHECK_THAT(result.err, Catch::Contains("work_mem"));
  CHECK(here.dev_json(folder, {"start"})["started"] == true);
}

TEST_CASE("a folder may have a long and odd name", "[dev]") {
  scratch here;
  const auto folder = here.server(std::string(100, 'x') + " $HOME, \"it's\"");
  here.dev_json(folder, {"start"});
  CHECK(here.sql(folder, "SELECT 1") == "1\n");
  const auto sockets = here.sql(folder, "SHOW unix_socket_directories");
  here.dev_json(folder, {"destroy", "--yes"});
  CHECK_FALSE(fs::exists(folder));
  // Quoted, with a line's end.
  CHECK_FALSE(fs::exists(sockets.substr(1, sockets.size() - 3)));
}

TEST_CASE("destroying a server removes it and its folder", "[dev]") {
  scratch here;
  const auto folder = here.server();
  const auto pid = here.dev_json(folder, {"start"})["pid"].get<pid_t>();
  CHECK(here.dev_json(folder, {"destroy", "--yes"})["destroyed"] == true);
  CHECK_FALSE(fs::exists(folder));
  CHECK((kill(pid, 0) != 0
         || !fs::exists("/proc/" + std::to_string(pid) + "/cwd/base")));
}

TEST_CASE("root can have a server below a folder that is root's alone",
          "[dev][root]") {
  if (!is_root())
    return; // a user's server runs as that user: nothing to show
  scratch here;
  fs::create_directory(here.path() / "secret");
  chmod((here.path() / "secret").c_str(), 0700);
  const auto folder = here.server("secret/pg");
  const auto status = here.dev_json(folder, {"start"});
  CHECK(here.sql(folder, "SELECT 1") == "1\n");
  const auto elsewhere =
    fs::path{status["log"].get<std::string>()}.parent_path();
  CHECK(elsewhere != folder);
  here.dev_json(folder, {"destroy", "--yes"});
  CHECK_FALSE(fs::exists(elsewhere));
}

SCENARIO("an unprivileged user has servers of their own", "[dev][root]") {
  const auto user = find_user("nobody");
  if (!is_root() || !user)
    return; // every other test is this one, then
  scratch here;
  // The build tree may be closed to others.
  const auto program = here.path() / "sqlstreams";
  fs::copy_file(SQLSTREAMS_BIN, program);
  const auto as_nobody = [&](const fs::path& folder,
                             std::vector<std::string> words) {
    auto line = here.dev_line(folder, std::move(words));
    line.front() = program;
    return run_command({.argv = as_user(*user, line), .directory = "/"});
  };

  GIVEN("a folder of the user") {
    const auto home = here.path() / "home";
    fs::create_directory(home);
    REQUIRE(chown(home.c_str(), user->uid, user->gid) == 0);
    const auto folder = here.server("home/pg");
    THEN("the user starts and stops a server in it, and so does root") {
      CHECK(as_nobody(folder, {"start"}).status == 0);
      CHECK(here.sql(folder, "SELECT 1") == "1\n");
      CHECK(here.dev_json(folder, {"stop"})["stopped"] == true);
      CHECK(here.dev_json(folder, {"start"})["started"] == true);
      CHECK(as_nobody(folder, {"stop"}).status == 0);
    }
  }
  GIVEN("a server of somebody else") {
    const auto folder = here.server();
    const auto pid = here.dev_json(folder, {"start"})["pid"];
    THEN("the user is told, and it is left alone") {
      for (const auto* verb : {"start", "stop", "status", "destroy"}) {
        const auto result = as_nobody(folder, {verb, "--yes"});
        CHECK(result.status == 1);
        CHECK_THAT(result.err, Catch::Contains("owns"));
      }
      CHECK(here.dev_json(folder, {"status"})["pid"] == pid);
    }
  }
}
