// The edges of the program: where its output goes, whom it asks, which address
// it takes.
#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>
#include <pqxx/connection>
#include <pqxx/nontransaction>

#include <algorithm>
#include <filesystem>

#include <sys/stat.h>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

namespace {

/// How often a text holds another.
int times(const std::string& text, const std::string& part) {
  int count = 0;
  for (auto at = text.find(part); at != std::string::npos;
       at = text.find(part, at + 1))
    ++count;
  return count;
}

/// The address of another database on the tests' server.
std::string in_database(const std::string& name) {
  auto url = database_url();
  if (url.find("://") == std::string::npos)
    return url + " dbname=" + name;
  const auto slash = url.find('/', url.find("://") + 3);
  const auto end = std::min(url.find('?'), url.size());
  return url.replace(slash + 1, end - slash - 1, name);
}

/// The line with its standard output sent to a device that is always full.
command to_full_device(command line) {
  std::vector<std::string> argv{"/bin/sh", "-c", "exec \"$@\" > /dev/full",
                                "sh"};
  argv.insert(argv.end(), line.argv.begin(), line.argv.end());
  line.argv = std::move(argv);
  return line;
}

} // namespace

SCENARIO("a full device is said, not passed over", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n"
              "exception_initial_backoff = \"1ms\"\n");
  cli.expect({"produce", "orders", "1"});
  const auto nowhere = cli.folder() + "/none";
  for (const auto& words : std::vector<std::vector<std::string>>{
         {"stream", "list"},
         {"explain"},
         {"--help"},
         {"--version"},
         {"dev", "stop", "--data", nowhere},
         {"produce", "orders", "2"},
         {"consume", "orders", "--tail", "--from-beginning"},
         {"consume", "orders", "--group", "billing"}}) {
    INFO(words.front());
    const auto result = run_command(to_full_device(cli.line(words)));
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("SQL1014") && Contains("No space left"));
    CHECK(times(result.err, "SQL1014") == 1);
  }
  THEN("no message counts as handled") {
    const auto rest =
      json_lines(cli.expect({"consume", "orders", "--group", "billing", "--max",
                             "2", "--output", "json"}));
    CHECK(rest.size() == 2);
  }
}

SCENARIO("destroying is asked for", "[cli][dev]") {
  command_line cli;
  const auto folder = cli.folder() + "/pg";
  std::filesystem::create_directory(folder);
  const auto result = cli.run({"dev", "destroy", "--data", folder});
  CHECK(result.status == 2);
  CHECK_THAT(result.err, Contains("--yes") && Contains(folder));
  CHECK(std::filesystem::exists(folder));
}

SCENARIO("the program says its version", "[cli]") {
  command_line cli;
  CHECK_THAT(cli.expect({"--version"}), Catch::StartsWith("sqlstreams 0."));
}

SCENARIO("a mistyped command names the nearest one", "[cli]") {
  command_line cli;
  for (const auto* format : {"text", "json"}) {
    const auto result = cli.run({"--output", format, "consmue", "orders"});
    CHECK(result.status == 2);
    CHECK_THAT(result.err,
               Contains("SQL1011") && Contains("the nearest is 'consume'"));
  }
  CHECK_THAT(cli.run({"consumer", "lst", "orders"}).err,
             Contains("the nearest is 'consumer list'"));
}

SCENARIO("an address on the command line comes before a file's", "[cli]") {
  command_line cli;
  const auto file = cli.file("away.toml", "[database]\nurl = \"postgres://"
                                          "127.0.0.1:1/away\"\n"
                                          "schema = \"elsewhere\"\n");
  const auto line = [&](std::vector<std::string> words) {
    auto made = cli.line(std::move(words));
    made.argv.insert(made.argv.begin() + 1, {"--config", file});
    return run_command(made);
  };
  // The test's own schema is given in each line.
  CHECK(line({"system", "register", "--database-url", database_url()}).status
        == 0);
  const auto away = line({"system", "get"});
  CHECK(away.status == 1);
  CHECK_THAT(away.err, Contains("127.0.0.1"));

  auto with_own_schema = cli.line({"system", "get"});
  with_own_schema.argv = {
    SQLSTREAMS_BIN,        "--config", file,  "--schema",
    "no_such_schema_here", "system",   "get", "--database-url",
    database_url()};
  CHECK_THAT(run_command(with_own_schema).err, Contains("no_such_schema_here"));
}

SCENARIO("a database that is missing can be made", "[cli][bad]") {
  command_line cli;
  const auto result = cli.run({"stream", "list", "--database-url",
                               in_database("nowhere"), "--output", "json"});
  CHECK(result.status == 1);
  const auto failure = json::parse(result.err)["error"];
  CHECK(failure["code"] == "SQL1027");
  CHECK_THAT(failure["fix"].get<std::string>(), Contains("createdb"));
}

SCENARIO("a file that is none does not block", "[cli][bad]") {
  command_line cli;
  const auto pipe = cli.folder() + "/pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const auto& path : {pipe, cli.folder()}) {
    const auto result = cli.run({"config", "check", path});
    CHECK(result.status == 1);
    CHECK_THAT(result.err, Contains("SQL1010") && Contains(path));
  }
  for (const auto* input : {"-", "/dev/stdin"})
    CHECK_THAT(cli.expect({"config", "check", input}, "[streams.orders]\n"),
               Contains("valid, 1 stream"));
}

SCENARIO("a damaged group hides no other", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n"
              "[streams.orders.groups.shipping]\n");
  pqxx::connection server{database_url()};
  pqxx::nontransaction by_hand{server};
  by_hand.exec("DELETE FROM " + cli.schema()
               + ".consumer_group_cursor_1 WHERE consumer_group_id = 1");
  CHECK_THAT(cli.expect({"consumer", "list", "orders"}),
             Contains("billing") && Contains("shipping") && Contains("error: ")
               && Contains("active"));
  const auto groups =
    json_lines(cli.expect({"consumer", "list", "orders", "--output", "json"}));
  REQUIRE(groups.size() == 2);
  CHECK_THAT(groups[0]["error"].get<std::string>(), Contains("SQL0014"));
  CHECK(groups[1]["backlog"] == 0);
  CHECK_FALSE(groups[1].contains("error"));
}

SCENARIO("a session's error is said once", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n");
  pqxx::connection server{database_url()};
  pqxx::nontransaction by_hand{server};
  by_hand.exec("DELETE FROM " + cli.schema() + ".consumer_group_cursor_1");
  const auto result =
    cli.run({"consume", "orders", "--group", "billing", "--max", "1"});
  CHECK(result.status == 1);
  INFO(result.err);
  const auto last = result.err.substr(result.err.find("sqlstreams: "));
  CHECK(times(last, "SQL0014") == 1);
  CHECK(times(last, "Fix: ") == 1);
}

SCENARIO("messages have one form in JSON, whoever prints them", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.a]\n[streams.orders.groups.b]\n");
  cli.expect({"produce", "orders", "{\"n\":1}", "--key", "k"});
  auto printed = json::parse(cli.expect(
    {"consume", "orders", "--group", "a", "--max", "1", "--output", "json"}));
  auto logged = json::parse(cli.expect(
    {"consume", "orders", "--group", "b", "--max", "1", "--handler", "log"}));
  printed["group"] = logged["group"];
  CHECK(printed == logged);
}
