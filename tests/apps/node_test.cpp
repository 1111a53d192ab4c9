// The TOML way of use: `sqlstreams run FILE`.
#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>

#include <csignal>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

namespace {

const std::string node_file = SQLSTREAMS_SOURCE_DIR "/apps/examples/node.toml";

} // namespace

SCENARIO("a node runs what a file declares", "[node]") {
  GIVEN("the example file") {
    command_line cli;
    child_process node{cli.line({"run", node_file})};
    node.wait_for_error_output("audit");

    WHEN("messages are produced") {
      cli.expect({"produce", "tasks", "--stdin"},
                 "{\"task\":\"water the plants\"}\n{\"other\":1}\n");
      THEN("both groups handle them, and SIGTERM ends the node well") {
        node.wait_for_output("message 1, attempt 0: "
                             "{\"task\": \"water the plants\"}");
        node.wait_for_output("\"id\":2");
        // The second message names no task: the script says it is hopeless.
        cli.wait_for_backlog("tasks", "worker", 0);
        CHECK(cli.lag("tasks", "worker")["dead"] == 1);
        CHECK_THAT(cli.expect({"consumer", "exceptions", "tasks", "worker",
                               "--status", "dead"}),
                   Contains("names no task"));
        node.signal(SIGTERM);
        const auto result = node.wait();
        INFO(result.err);
        CHECK(result.status == 0);
      }
    }
  }
}

SCENARIO("a node that cannot run says so before it registers anything",
         "[node]") {
  command_line cli;
  const auto refused = [&](std::string_view toml) {
    const auto result =
      cli.run({"run", cli.file("node.toml", toml), "--output", "json"});
    CHECK(result.status == 1);
    CHECK(cli.run({"stream", "get", "orders"}).status == 1);
    return json::parse(result.err)["error"];
  };

  WHEN("a handler's command does not exist") {
    const auto failure =
      refused("[streams.orders.groups.billing]\n"
              "handler = { exec = [\"./no-such-command\", \"--json\"] }\n");
    THEN("it is named") {
      CHECK(failure["code"] == "SQL1045");
      CHECK_THAT(failure["detail"].get<std::string>(),
                 Contains("no-such-command"));
    }
  }
  WHEN("no group has a handler") {
    const auto failure = refused("[streams.orders.groups.billing]\n");
    THEN("there is nothing to run") {
      CHECK(failure["code"] == "SQL1002");
      CHECK_THAT(failure["detail"].get<std::string>(),
                 Contains("has a handler"));
    }
  }
  WHEN("a handler is of a kind of later versions") {
    const auto failure = refused("[streams.orders.groups.billing]\n"
                                 "handler = { http = \"http://[::1]/\" }\n");
    THEN("it is refused, not ignored") {
      CHECK(failure["code"] == "SQL1002");
      CHECK_THAT(failure["detail"].get<std::string>(), Contains("http"));
    }
  }
}

SCENARIO("a node ends when a session ended for good", "[node]") {
  GIVEN("two groups, one of which asks for what this version does not run") {
    command_line cli;
    const auto path =
      cli.file("node.toml", "[streams.orders.groups.billing]\n"
                            "handler = { log = true }\n"
                            "[streams.orders.groups.keyed]\n"
                            "concurrency_override = \"ordered\"\n"
                            "handler = { log = true }\n");
    WHEN("it is run") {
      const auto result = cli.run({"run", path});
      THEN("all end in order, and the status and the error tell why") {
        CHECK(result.status == 1);
        CHECK_THAT(result.err, Contains("SQL1008") && Contains("keyed"));
      }
    }
  }
}
