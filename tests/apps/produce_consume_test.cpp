#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>
#include <pqxx/connection>
#include <pqxx/transaction>

#include <csignal>
#include <string>

using namespace sqlstreams::test;
using Catch::Contains;
using json = nlohmann::json;

namespace {

const std::string orders_file =
  SQLSTREAMS_SOURCE_DIR "/apps/examples/orders.toml";

std::vector<std::int64_t> ids(const std::vector<json>& messages) {
  std::vector<std::int64_t> result;
  for (const auto& message : messages)
    result.push_back(message["id"].get<std::int64_t>());
  return result;
}

} // namespace

SCENARIO("the first steps of a new user", "[cli]") {
  GIVEN("the example file, applied to an empty database") {
    command_line cli;
    const auto applied = cli.expect({"apply", orders_file});
    CHECK_THAT(applied, Contains("stream orders: created")
                          && Contains("group orders/billing: created"));

    WHEN("two lines are produced") {
      const auto produced = json_lines(
        cli.expect({"produce", "orders", "--stdin", "--output", "json"},
                   "{\"n\":1}\n{\"n\":2}\n"));
      REQUIRE(produced.size() == 2);
      CHECK(produced[0] == json{{"id", 1}, {"duplicate", false}});
      CHECK(produced[1] == json{{"id", 2}, {"duplicate", false}});

      THEN("the group gets both and stands at the head") {
        const auto handled =
          json_lines(cli.expect({"consume", "orders", "--group", "billing",
                                 "--max", "2", "--output", "json"}));
        REQUIRE(ids(handled) == std::vector<std::int64_t>{1, 2});
        CHECK(handled[0]["payload"] == json{{"n", 1}});
        CHECK(handled[0]["attempt"] == 0);
        CHECK(handled[0]["stream"] == "orders");
        CHECK(handled[0]["group"] == "billing");
        CHECK(handled[0]["message_key"].is_null());

        const auto lag = cli.lag("orders", "billing");
        CHECK(lag["backlog"] == 0);
        CHECK(lag["head"] == 2);
        CHECK(lag["claimed"] == 2);
        CHECK(lag["committed"] == 2);
        for (const auto* none :
             {"ready", "inflight", "deferred", "dead", "open_leases"})
          CHECK(lag[none] == 0);
        CHECK_THAT(cli.expect({"consumer", "lag", "orders", "billing",
                               "--output", "json"}),
                   Contains("\"backlog\":0"));
      }
    }

    WHEN("the file is applied again") {
      THEN("nothing changes, and it says so") {
        const auto again = cli.expect({"apply", orders_file});
        CHECK_THAT(again, Contains("stream orders: unchanged")
                            && Contains("group orders/billing: unchanged")
                            && !Contains("created"));
      }
    }

    WHEN("a changed file is applied") {
      const auto changed = json_lines(cli.expect(
        {"apply", "--output", "json",
         cli.file("changed.toml", "[streams.orders]\nretention = \"31d\"\n")}));
      THEN("the change is told as old and new") {
        REQUIRE(changed.size() == 1);
        CHECK(changed[0]["effect"] == "updated");
        CHECK_THAT(changed[0]["changes"].get<std::string>(),
                   Contains("retention: 30d -> 31d"));
      }
    }
  }
}

SCENARIO("a later message never passes over an open transaction's", "[cli]") {
  GIVEN("a transaction that produced with SQL and is left open") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n");
    pqxx::connection connection{database_url()};
    auto open = std::make_unique<pqxx::work>(connection);
    open->exec("SELECT " + cli.schema() + ".produce('orders', '{\"n\":3}')");

    WHEN("another produces and commits") {
      child_process consumer{
        cli.line({"consume", "orders", "--group", "billing", "--max", "2",
                  "--output", "json"})};
      cli.expect({"produce", "orders", "{\"n\":4}"});
      THEN("it waits, and both are handled in order after the commit") {
        CHECK(cli.lag("orders", "billing")["claimed"] == 0);
        open->commit();
        const auto result = consumer.wait();
        CHECK(result.status == 0);
        const auto handled = json_lines(result.out);
        REQUIRE(handled.size() == 2);
        CHECK(handled[0]["payload"] == json{{"n", 3}});
        CHECK(handled[1]["payload"] == json{{"n", 4}});
      }
    }
  }

  GIVEN("an unrelated transaction that has written and is left open") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n");
    pqxx::connection connection{database_url()};
    pqxx::work foreign{connection};
    foreign.exec("CREATE TABLE " + cli.schema() + ".unrelated (x int)");
    WHEN("messages are produced") {
      cli.expect({"produce", "orders", "--stdin"}, "1\n2\n3\n");
      THEN("they flow") {
        CHECK(
          cli.expect({"consume", "orders", "--group", "billing", "--max", "3"})
          == "1 1\n2 2\n3 3\n");
      }
    }
  }
}

SCENARIO("what goes with a message arrives with it", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n");
  WHEN("a message has keys and headers of difficult characters") {
    cli.expect({"produce", "orders", R"({"n": 1.50, "text": "ü\n"})", "--key",
                "it's 100% \"ok\"", "--routing-key", "eu.de", "--header",
                "trace=a=b", "--header", "who=\xf0\x9f\x90\x98\n"});
    THEN("they are shown intact") {
      const auto message =
        json_lines(cli.expect({"consume", "orders", "--group", "billing",
                               "--max", "1", "--output", "json"}))[0];
      CHECK(message["payload"]["text"] == "ü\n");
      CHECK(message["message_key"] == "it's 100% \"ok\"");
      CHECK(message["routing_key"] == "eu.de");
      CHECK(message["headers"]
            == json{{"trace", "a=b"}, {"who", "\xf0\x9f\x90\x98\n"}});
    }
  }

  WHEN("a message is produced twice with one idempotency key") {
    const std::vector<std::string> once{
      "produce",           "orders", "1", "--output", "json",
      "--idempotency-key", "order 1"};
    const auto first = json::parse(cli.expect(once));
    const auto second = json::parse(cli.expect(once));
    THEN("the second is told the first one's id") {
      CHECK(first["duplicate"] == false);
      CHECK(second == json{{"id", first["id"]}, {"duplicate", true}});
    }
  }

  WHEN("keys are taken from a field of each line") {
    cli.expect({"produce", "orders", "--stdin", "--key-field", "k"},
               "{\"k\":\"a\"}\n{\"k\":7}\n");
    THEN("each message has its own") {
      CHECK(cli.expect(
              {"consume", "orders", "--tail", "--from-beginning", "--max", "2"})
            == "1 key=a {\"k\": \"a\"}\n2 key=7 {\"k\": 7}\n");
    }
  }
}

SCENARIO("lines are produced up to the first bad one", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n");
  const auto path =
    cli.file("orders.ndjson", "{\"n\":1}\n\n{\"n\":2}\n{\"n\n4\n");

  WHEN("a file has a bad fourth line") {
    const auto result =
      cli.run({"produce", "orders", "--file", path, "--output", "json"});
    THEN("those before it are produced, and the line is named") {
      CHECK(result.status == 1);
      CHECK(ids(json_lines(result.out)) == std::vector<std::int64_t>{1, 2});
      const auto failure = json::parse(result.err)["error"];
      CHECK(failure["code"] == "SQL1003");
      CHECK_THAT(failure["detail"].get<std::string>(),
                 Contains("line 4") && Contains("before it 2 messages were"));
    }
  }

  WHEN("bad lines are to be skipped") {
    const auto result =
      cli.run({"produce", "orders", "--file", path, "--skip-invalid"});
    THEN("the others are produced, and the status tells all the same") {
      CHECK(result.status == 1);
      CHECK(result.out == "produced 3 messages, ids 1 to 3\n");
      CHECK_THAT(result.err, Contains("SQL1003") && Contains("line 4")
                               && Contains("1 line was refused"));
    }
  }

  WHEN("lines come one by one from a program that goes on") {
    child_process producer{
      cli.line({"produce", "orders", "--stdin", "--output", "json"}), true};
    producer.write("1\n");
    THEN("each is produced without waiting for more") {
      producer.wait_for_output("\"id\":1");
      producer.write("2\n");
      producer.wait_for_output("\"id\":2");
      producer.close_input();
      CHECK(producer.wait().status == 0);
    }
  }
}

SCENARIO("a group that does not exist is made, and that is said", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders]\n");
  cli.expect({"produce", "orders", "1"});
  WHEN("somebody consumes with a new group") {
    const auto result =
      cli.run({"consume", "orders", "--group", "new", "--max", "1"});
    THEN("it works, and standard error names the event") {
      CHECK(result.status == 0);
      CHECK(result.out == "1 1\n");
      CHECK_THAT(result.err, Contains("SQL1064") && Contains("new"));
    }
    AND_WHEN("the same happens again") {
      cli.expect({"produce", "orders", "2"});
      const auto again =
        cli.run({"consume", "orders", "--group", "new", "--max", "1"});
      THEN("the group goes on where it was, silently") {
        CHECK(again.out == "2 2\n");
        CHECK_THAT(again.err, !Contains("SQL1064"));
      }
    }
  }
}

SCENARIO("messages are not handled when nobody can read them", "[cli]") {
  GIVEN("a consumer whose standard output has been closed") {
    command_line cli;
    cli.declare("[streams.orders.groups.billing]\n"
                "exception_initial_backoff = \"1ms\"\n");
    child_process consumer{
      cli.line({"consume", "orders", "--group", "billing"})};
    cli.expect({"produce", "orders", "1"});
    consumer.wait_for_output("1 1\n");
    consumer.close_output();

    WHEN("a message is produced") {
      cli.expect({"produce", "orders", "2"});
      const auto result = consumer.wait();
      THEN("the consumer fails, and another one gets the message") {
        CHECK(result.status == 1);
        CHECK_THAT(result.err, Contains("standard output was closed"));
        const auto retried =
          json_lines(cli.expect({"consume", "orders", "--group", "billing",
                                 "--max", "1", "--output", "json"}));
        REQUIRE(retried.size() == 1);
        CHECK(retried[0]["payload"] == 2);
        CHECK(retried[0]["attempt"] == 1);
      }
    }
  }
}

SCENARIO("a stream can be read along without a group", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders]\n");
  cli.expect({"produce", "orders", "--stdin"}, "1\n2\n3\n");

  WHEN("it is read from a given id") {
    THEN("what follows is shown") {
      CHECK(cli.expect(
              {"consume", "orders", "--tail", "--after", "1", "--max", "2"})
            == "2 2\n3 3\n");
    }
  }

  WHEN("it is read from now on") {
    child_process reader{cli.line({"consume", "orders", "--tail"})};
    // When it has begun is not visible, so there is more until something shows.
    std::string seen;
    for (int n = 4; seen.empty() && n < 500; ++n) {
      cli.expect({"produce", "orders", std::to_string(n)});
      seen = reader.output_so_far();
    }
    THEN("only new messages are shown, and it ends when asked to") {
      reader.signal(SIGTERM);
      const auto result = reader.wait();
      CHECK(result.status == 0);
      CHECK_THAT(result.out, !Contains("1 1\n") && !Contains("3 3\n"));
    }
  }
}

SCENARIO("a command can handle messages", "[cli]") {
  command_line cli;
  cli.declare("[streams.orders.groups.billing]\n");
  cli.expect({"produce", "orders", "{\"n\":1}", "--key", "k1"});
  WHEN("it is given with its arguments") {
    const auto result =
      cli.run({"consume", "orders", "--group", "billing", "--max", "1",
               "--handler", "exec", "--", "sh", "-c",
               "echo \"$SQLSTREAMS_ID $SQLSTREAMS_MESSAGE_KEY $(cat)\""});
    THEN("it gets the payload and what is known about it") {
      INFO(result.err);
      CHECK(result.status == 0);
      CHECK(result.out == "1 k1 {\"n\": 1}\n");
    }
  }
}

SCENARIO("what is registered can be looked at", "[cli]") {
  command_line cli;
  cli.expect({"apply", orders_file});
  THEN("streams and groups are listed, in text and in JSON") {
    CHECK_THAT(cli.expect({"stream", "list"}),
               Contains("NAME") && Contains("orders") && Contains("30d"));
    const auto stream =
      json::parse(cli.expect({"stream", "get", "orders", "--output=json"}));
    CHECK(stream["name"] == "orders");
    CHECK(stream["id"].is_number());
    CHECK_THAT(cli.expect({"consumer", "list", "orders"}),
               Contains("GROUP") && Contains("billing")
                 && Contains("shipping-eu"));
    const auto group = json::parse(
      cli.expect({"consumer", "get", "orders", "billing", "--output=json"}));
    CHECK(group["name"] == "billing");
    CHECK_THAT(cli.expect({"consumer", "exceptions", "orders", "billing"}),
               Contains("no exceptions"));
    CHECK(json::parse(cli.expect({"system", "get", "--output=json"}))["schema"]
          == cli.schema());
  }
}
