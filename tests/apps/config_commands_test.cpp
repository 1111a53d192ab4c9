#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

SCENARIO("all mistakes of a file are reported at once", "[cli]") {
  GIVEN("a file with five different mistakes") {
    command_line cli;
    const auto path =
      cli.file("five.toml", "[streams.orders]\n"
                            "retenton = \"30d\"\n"
                            "partition_size = 1\n"
                            "max_payload_bytes = \"big\"\n"
                            "[streams.\"Bad Name\"]\n"
                            "[streams.orders.groups.billing]\n"
                            "message = { timeout = \"10s\" }\n"
                            "message_min = { timeout = \"1m\" }\n");
    WHEN("it is checked") {
      const auto text = cli.run({"config", "check", path});
      const auto result =
        cli.run({"config", "check", path, "--output", "json"});
      THEN("each is named with its position") {
        CHECK(text.status == 1);
        CHECK_THAT(text.err, Contains("SQL1002"));
        for (const auto* position :
             {"five.toml:2:", "five.toml:3:", "five.toml:4:", "five.toml:5:",
              "five.toml:8:"})
          CHECK_THAT(text.err, Contains(position));
        CHECK_THAT(text.err, Contains("retention")); // the nearest known key

        CHECK(result.status == 1);
        const auto failure = json::parse(result.err)["error"];
        CHECK(failure["code"] == "SQL1002");
        CHECK(failure["findings"].size() == 5);
        for (const auto& finding : failure["findings"]) {
          CHECK(finding["line"].get<int>() > 0);
          CHECK(finding["column"].get<int>() > 0);
          CHECK_FALSE(finding["problem"].get<std::string>().empty());
        }
      }
    }
    WHEN("it is applied or run") {
      THEN("nothing happens but the same report") {
        for (const auto* verb : {"apply", "run"}) {
          const auto result = cli.run({verb, path});
          CHECK(result.status == 1);
          CHECK_THAT(result.err, Contains("five.toml:8:"));
        }
        CHECK(cli.run({"system", "get"}).status == 1);
      }
    }
  }
}

SCENARIO("a file's effective values can be seen, but no secret", "[cli]") {
  GIVEN("a file with a password, directly and by name") {
    command_line cli;
    const auto path =
      cli.file("node.toml", "[database]\n"
                            "url = \"postgres://app:hunter2@db1/app\"\n"
                            "[streams.orders.groups.billing]\n");
    const auto by_name =
      cli.file("named.toml", "[database]\nurl = \"env:APP_URL\"\n");
    THEN("values are printed with defaults, the password is not") {
      for (const auto* format : {"text", "json"}) {
        const auto text =
          cli.expect({"config", "print", path, "--output", format});
        CHECK_THAT(text, Contains("***") && Contains("partition_size")
                           && Contains("1000000") && !Contains("hunter2"));
      }
      auto named = cli.line({"config", "print", by_name});
      named.environment["APP_URL"] = "postgres://app:hunter3@db1/app";
      const auto result = run_command(named);
      CHECK(result.status == 0);
      CHECK_THAT(result.out, Contains("db1") && !Contains("hunter3"));
    }
    THEN("the check says what is in it") {
      CHECK_THAT(cli.expect({"config", "check", path}),
                 Contains("valid, 1 stream, 1 consumer group"));
    }
  }
}

SCENARIO("codes are explained", "[cli]") {
  command_line cli;
  for (const auto* spelling : {"SQL0005", "sql5", "5", "stream_not_found"}) {
    const auto text = cli.expect({"explain", spelling});
    CHECK_THAT(text, Contains("SQL0005 stream_not_found") && Contains("Fix: "));
  }
  const auto row =
    json::parse(cli.expect({"explain", "SQL0005", "--output", "json"}));
  CHECK(row["code"] == "SQL0005");
  CHECK(row["recovery"] == "permanent");
  const auto unknown = cli.run({"explain", "SQL9999"});
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, Contains("SQL1012"));
}

SCENARIO("a command line that is not understood is told apart from a failure",
         "[cli]") {
  command_line cli;
  using words = std::vector<std::string>;
  for (const auto& wrong : std::vector<words>{
         {},
         {"nonsense"},
         {"produce"},
         {"produce", "orders"},
         {"produce", "orders", "1", "--stdin"},
         {"produce", "orders", "--file", "x", "--stdin"},
         {"produce", "orders", "1", "--header", "no-equals"},
         {"produce", "orders", "--stdin", "--idempotency-key", "k"},
         {"produce", "orders", "--stdin", "--batch", "0"},
         {"consume", "orders"},
         {"consume", "orders", "--group", "g", "--tail"},
         {"consume", "orders", "--group", "g", "--max", "-1"},
         {"consume", "orders", "--group", "g", "--max", "many"},
         {"consume", "orders", "--group", "g", "--handler", "magic"},
         {"consume", "orders", "--group", "g", "--handler", "exec"},
         {"consume", "orders", "--group", "g", "--timeout", "30 s"},
         {"stream", "list", "--output", "xml"},
         {"stream", "list", "--no-such-option"}}) {
    const auto result = cli.run(wrong);
    INFO((wrong.empty() ? "nothing" : wrong.back()) << "\n" << result.err);
    CHECK(result.status == 2);
    CHECK_FALSE(result.err.empty());
    CHECK(result.out.empty());
  }
  const auto in_json = cli.run({"nonsense", "--output", "json"});
  CHECK(in_json.status == 2);
  CHECK(json::parse(in_json.err)["error"]["code"] == "SQL1011");
  CHECK(cli.run({"--help"}).status == 0);
}
