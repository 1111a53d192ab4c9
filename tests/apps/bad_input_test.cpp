// Each bad input ends with status 1 and a coded error that says what, where and
// the fix; nothing is lost, and no secret is shown.
#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>
#include <pqxx/connection>
#include <pqxx/nontransaction>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

namespace {

using words = std::vector<std::string>;

/// Checks the shape of a failure in both forms of output.
/// @returns its JSON
json failure_of(const command& what) {
  const auto text = run_command(what);
  INFO(text.err);
  CHECK(text.status == 1);
  CHECK(text.out.empty());
  CHECK_THAT(text.err, Contains("SQL") && Contains("Fix: "));
  CHECK_THAT(text.err, !Contains("terminate called") && !Contains("hunter2"));

  auto in_json = what;
  in_json.argv.insert(in_json.argv.begin() + 1, "--output=json");
  const auto result = run_command(in_json);
  CHECK(result.status == 1);
  CHECK_THAT(result.err, !Contains("hunter2"));
  auto failure = json::parse(result.err)["error"];
  for (const auto* field :
       {"code", "name", "problem", "detail", "recovery", "fix"}) {
    INFO(field);
    CHECK_FALSE(failure[field].get<std::string>().empty());
  }
  return failure;
}

json failure_of(const command_line& cli, const words& line,
                const std::string& input = {}) {
  return failure_of(cli.line(line, input));
}

void check(const json& failure, const std::string& code,
           const std::vector<std::string>& names) {
  INFO(failure.dump());
  CHECK(failure["code"] == code);
  for (const auto& name : names)
    CHECK_THAT(failure["detail"].get<std::string>(), Contains(name));
}

/// Registers a stream to be produced into.
command_line& with_orders(command_line& cli) {
  cli.declare("[streams.orders]\nmax_payload_bytes = 1000\n");
  return cli;
}

} // namespace

TEST_CASE("an address that is none is refused without its password",
          "[cli][bad]") {
  command_line cli;
  check(failure_of(cli, {"stream", "list", "--database-url",
                         "mysql://app:hunter2@db/app"}),
        "SQL1027", {});
  auto without = cli.line({"stream", "list"});
  without.environment["SQLSTREAMS_DATABASE_URL"] = "";
  const auto failure = failure_of(without);
  CHECK(failure["code"] == "SQL1027");
  CHECK_THAT(failure["fix"].get<std::string>(),
             Contains("--database-url") && Contains("SQLSTREAMS_DATABASE_URL"));
}

TEST_CASE("a server that is down is named", "[cli][bad]") {
  command_line cli;
  check(failure_of(cli, {"stream", "list", "--database-url",
                         "postgres://app:hunter2@127.0.0.1:1/app"}),
        "SQL1020", {"127.0.0.1"});
  check(failure_of(cli, {"stream", "list", "--database-url",
                         "postgres://app:hunter2@/app?host=/nonexistent"}),
        "SQL1020", {"/nonexistent"});
}

TEST_CASE("credentials that are refused are told apart", "[cli][bad]") {
  command_line cli;
  pqxx::connection connection{database_url()};
  const std::string address =
    "@127.0.0.1:" + std::string(connection.port()) + "/" + connection.dbname();
  const auto role = cli.schema() + "_role";
  pqxx::nontransaction admin{connection};
  admin.exec("SET password_encryption = 'scram-sha-256'");
  admin.exec("CREATE ROLE " + role + " LOGIN PASSWORD 'right'");

  check(failure_of(cli, {"stream", "list", "--database-url",
                         "postgres://" + role + ":hunter2" + address}),
        "SQL1021", {role});
  admin.exec("DROP ROLE " + role);
}

TEST_CASE("what is not registered is named, with what to do", "[cli][bad]") {
  command_line cli;
  for (const auto& line :
       {words{"produce", "nosuch", "1"}, words{"stream", "get", "nosuch"},
        words{"consume", "nosuch", "--group", "g"},
        words{"consume", "nosuch", "--tail"},
        words{"consumer", "list", "nosuch"}}) {
    const auto failure = failure_of(cli, line);
    check(failure, "SQL0005", {"nosuch", cli.schema()});
    CHECK_THAT(failure["fix"].get<std::string>(), Contains("apply"));
  }
  with_orders(cli);
  check(failure_of(cli, {"produce", "nosuch", "1"}), "SQL0005", {"nosuch"});
  check(failure_of(cli, {"consumer", "lag", "orders", "nogroup"}), "SQL0014",
        {"nogroup", "orders"});
}

TEST_CASE("names that cannot be used are refused before anything is made",
          "[cli][bad]") {
  command_line cli;
  // Limit in bytes and allowed characters.
  const auto tells_the_rule = [](const json& failure) {
    check(failure, "SQL1000", {});
    CHECK_THAT(failure["fix"].get<std::string>(),
               Contains("200") && Contains("a-z"));
  };
  for (const std::string& name :
       {std::string("Orders"), std::string("a b"), std::string("é"),
        std::string("a;b"), std::string(201, 'a'), std::string(" a")}) {
    tells_the_rule(failure_of(cli, {"produce", name, "1"}));
    tells_the_rule(failure_of(cli, {"consume", "orders", "--group", name}));
  }
  check(failure_of(cli, {"produce", "__system.metrics", "1"}), "SQL0009",
        {"__system."});
  auto schema = cli.line({"stream", "list"});
  schema.argv = {SQLSTREAMS_BIN, "--schema", "Bad-Schema", "stream", "list"};
  check(failure_of(schema), "SQL1000", {"Bad-Schema"});
  CHECK(cli.run({"system", "get"}).status == 1);
}

TEST_CASE("payloads that cannot be stored are refused by their reason",
          "[cli][bad]") {
  command_line cli;
  with_orders(cli);
  const auto refused = [&](const std::string& payload,
                           const std::string& code) {
    check(failure_of(cli, {"produce", "orders", "--stdin"}, payload + "\n"),
          code, {"line 1"});
  };
  refused("{\"n\":", "SQL1003");
  refused("{'n': 1}", "SQL1003");
  refused("1 2", "SQL1003");
  refused(std::string(500, '['), "SQL1003");
  refused(R"({"text":"a\u0000b"})", "SQL1004");
  refused(std::string("\"a\0b\"", 5), "SQL1004");
  refused("\"\xc3(\"", "SQL1005");
  refused("\"\xed\xa0\x80\"", "SQL1005");
  refused('"' + std::string(999, 'x') + '"', "SQL1006");
  refused('"' + std::string(100'000, 'x') + '"', "SQL1006");
  check(failure_of(cli, {"produce", "orders", "{oops"}), "SQL1003", {});
  check(failure_of(cli, {"produce", "orders", "1", "--schema-version", "0"}),
        "SQL1009", {});

  SECTION("the largest one passes, and nothing else was stored") {
    cli.expect({"produce", "orders", '"' + std::string(998, 'x') + '"'});
    const auto stored =
      json_lines(cli.expect({"consume", "orders", "--tail", "--from-beginning",
                             "--max", "1", "--output", "json"}));
    CHECK(stored[0]["payload"].get<std::string>().size() == 998);
  }
}

TEST_CASE("deep nesting does not break the program", "[cli][bad]") {
  command_line cli;
  cli.declare("[streams.orders]\n");
  check(failure_of(cli, {"produce", "orders", "--stdin"},
                   std::string(500'000, '[') + "\n"),
        "SQL1003", {"line 1"});
  std::string deep;
  for (int i = 0; i < 200'000; ++i)
    deep += "{\"a\":";
  deep += "1" + std::string(200'000, '}');
  check(failure_of(cli, {"produce", "orders", "--stdin"}, deep + "\n"),
        "SQL1003", {"line 1"});
  check(failure_of(cli, {"produce", "orders", std::string(100'000, '[')}),
        "SQL1003", {});
}

TEST_CASE("a file that cannot be read is named", "[cli][bad]") {
  command_line cli;
  with_orders(cli);
  const auto absent = cli.folder() + "/absent";
  check(failure_of(cli, {"produce", "orders", "--file", absent}), "SQL1010",
        {absent});
  check(failure_of(cli, {"produce", "orders", "--file", cli.folder()}),
        "SQL1010", {cli.folder()});
  check(failure_of(cli, {"apply", absent}), "SQL1010", {absent});
  check(failure_of(cli, {"config", "check", cli.folder()}), "SQL1010",
        {cli.folder()});
}

TEST_CASE("a configuration's mistakes carry positions, and nothing is applied",
          "[cli][bad]") {
  command_line cli;
  struct mistake {
    std::string toml;
    std::string where;
    std::string what;
  };
  for (const auto& [toml, where, what] : std::vector<mistake>{
         {"[streams.orders]\nleese = 30\n", ":2:1", "leese"},
         {"[streams.orders]\nretention = true\n", ":2:", "retention"},
         {"[streams.orders]\nretention = \"-1s\"\n", ":2:", "-1s"},
         {"[streams.orders]\npartition_size = 1\n", ":2:", "partition_size"},
         {"[streams.orders]\n[streams.orders]\n", ":2:", "orders"},
         {"[streams.Orders]\n", ":1:", "Orders"},
         {"[streams.orders.groups.g]\nschema_version = 0\n",
          ":2:", "schema_version"},
         {"[streams.orders.groups.g]\nmessage = { timeout = \"10s\" }\n"
          "message_min = { timeout = \"11s\" }\n",
          ":3:", "message_min"},
         {"[streams.orders]\nretention = \"30d\n", ":2:", ""}}) {
    const auto path = cli.file("wrong.toml", toml);
    for (const auto& line :
         {words{"apply", path}, words{"config", "check", path}}) {
      INFO(toml);
      check(failure_of(cli, line), "SQL1002", {path + where, what});
    }
  }
  CHECK(cli.run({"system", "get"}).status == 1);
}

TEST_CASE("a handler command that does not exist is refused", "[cli][bad]") {
  command_line cli;
  with_orders(cli);
  check(failure_of(cli, {"consume", "orders", "--group", "g", "--handler",
                         "exec", "no-such-command-here"}),
        "SQL1045", {"no-such-command-here"});
  // It was refused before the group was made.
  CHECK(cli.run({"consumer", "get", "orders", "g"}).status == 1);
}
