#include "config/toml_reader.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <fstream>
#include <random>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

environment no_environment() { return {}; }

configuration read(std::string_view text,
                   const environment& env = no_environment()) {
  return read_configuration(text, "app.toml", env);
}

std::vector<finding> mistakes(std::string_view text,
                              const environment& env = no_environment()) {
  try {
    static_cast<void>(read(text, env));
  } catch (const configuration_error& e) {
    CHECK(e.number() == code::invalid_configuration);
    return e.findings();
  }
  return {};
}

/// The only mistake in a text.
finding mistake(std::string_view text,
                const environment& env = no_environment()) {
  const auto all = mistakes(text, env);
  for (const auto& one : all)
    INFO(to_string(one));
  REQUIRE(all.size() == 1);
  return all[0];
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// A directory entry that goes when the test ends.
class scratch_file {
public:
  explicit scratch_file(std::string_view text)
    : path_{
      std::filesystem::temp_directory_path()
      / ("sqlstreams-" + std::to_string(std::random_device{}()) + ".toml")} {
    std::ofstream{path_, std::ios::binary} << text;
  }
  ~scratch_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

} // namespace

TEST_CASE("a complete file is read", "[toml]") {
  const auto got = read(R"(
[database]
url = "postgres://app@db1,db2/app?target_session_attrs=read-write"
schema = "streams"
max_connections = 4
retry = { max_retries = 9 }

[node]
name = "payments-1"
on_session_end = "stop"

[streams."payments.requested"]
retention = "30d"
janitor = { poll_rate = "1s" }
delivery_log = "all"
producer = { max_waiting = 5, batch = { shutdown_grace = "-1s" } }

[streams."payments.requested".groups.charge-cards]
concurrency_override = "parallel"
start = "head"
bindings = ["eu.*"]
message = { timeout = "10s", retry = { max_retries = 5, base_delay = "2s" } }
message_max = { timeout = "30s" }
consume = { message_concurrency = 8 }
handler = { exec = ["./charge", "--json"] }
schema_version = 2

[streams.orders.groups.audit]
start = { at_message = 17 }
handler = { log = true }
[streams.orders.groups.late]
start = { at_time = 1970-01-01T01:00:01+01:00 }
)");
  CHECK(got.database.schema == "streams");
  CHECK(got.database.max_connections == 4);
  CHECK(got.database.retry == retry_policy{.max_retries = 9});
  CHECK(has(got.database.url, "db1,db2"));
  CHECK(got.node.name == "payments-1");
  CHECK(got.node.on_session_end == session_end_action::stop);
  REQUIRE(got.streams.size() == 2);
  const auto& orders = got.streams[0];
  CHECK(orders.name == "orders");
  CHECK(orders.groups.at(0).config.start == at_message(17));
  CHECK(std::holds_alternative<log_handler>(*orders.groups.at(0).handler));
  CHECK_FALSE(orders.groups.at(1).handler);
  CHECK(orders.groups.at(1).config.start
        == at_time(std::chrono::system_clock::time_point{1s}));

  const auto& payments = got.streams[1];
  CHECK(payments.name == "payments.requested");
  CHECK(payments.config
        == stream_config{.retention = 30 * 24h,
                         .delivery_log = delivery_log_mode::all,
                         .janitor = {.poll_rate = 1s}});
  REQUIRE(payments.producer);
  CHECK(payments.producer->max_waiting == 5);
  CHECK(payments.producer->batch.shutdown_grace == -1s);
  const auto& charge_cards = payments.groups.at(0);
  CHECK(charge_cards.config
        == consumer_config{.message = {.timeout = 10s,
                                       .retry = retry_policy{.max_retries = 5,
                                                             .base_delay = 2s}},
                           .message_max = {.timeout = 30s},
                           .concurrency_override = concurrency::parallel,
                           .start = head(),
                           .bindings = {"eu.*"}});
  CHECK(charge_cards.consume == consume_options{.message_concurrency = 8});
  CHECK(charge_cards.schema_version == 2);
  CHECK(std::get<exec_handler>(*charge_cards.handler).command
        == std::vector<std::string>{"./charge", "--json"});
}

TEST_CASE("an empty file declares nothing", "[toml]") {
  CHECK(read("").streams.empty());
  CHECK(read("# only a comment").streams.empty());
  CHECK(read("").database.schema == "sqlstreams");
}

TEST_CASE("a byte order mark and Windows line ends do no harm", "[toml]") {
  CHECK(read("\xEF\xBB\xBF[node]\r\nname = \"x\"\r\n").node.name == "x");
  const auto wrong = mistake("\xEF\xBB\xBF[node]\r\n\r\nnam = \"x\"\r\n");
  CHECK(wrong.line == 3);
  CHECK(wrong.column == 1);
}

TEST_CASE("five different mistakes are all reported with positions", "[toml]") {
  const auto text = R"([database]
max_conections = 8
[node]
name = "a
[streams.orders]
retention = 30
partition_size = 1
[streams.orders.groups.billing]
message_concurrency = 8
)";
  const auto all = mistakes(text);
  REQUIRE(all.size() == 5);
  CHECK(to_string(all[0])
        == "app.toml:2:1: database.max_conections: is an unknown key; "
           "accepted: url, schema, max_connections, retry; did you mean "
           "\"max_connections\"?");
  CHECK(all[1].line == 4);
  CHECK(all[1].key_path == "node.name");
  CHECK(has(all[1].problem, "closing quote"));
  CHECK(all[2].line == 6);
  CHECK(all[2].column == 13);
  CHECK(all[2].key_path == "streams.orders.retention");
  CHECK(all[2].suggestion == "30s");
  CHECK(all[3].line == 7);
  CHECK(has(all[3].accepted, "from 2 to"));
  CHECK(all[4].line == 9);
  CHECK(all[4].suggestion
        == "streams.orders.groups.billing.consume.message_concurrency");
  try {
    static_cast<void>(read(text));
  } catch (const error& e) {
    for (const auto& one : all)
      CHECK(has(e.what(), to_string(one)));
  }
}

TEST_CASE("an unknown key names its nearest relative", "[toml]") {
  CHECK(mistake("leese_seconds = 30").key_path == "leese_seconds");
  CHECK(mistake("[streams.a]\nretentoin = \"1d\"").suggestion == "retention");
  CHECK(mistake("[streams.a]\nPartition-Size = 5").suggestion
        == "partition_size");
  CHECK(mistake("[stream.a]\n").suggestion == "streams");
  CHECK(mistake("[streams.a.groups.g]\nconsume = { mesage_concurrency = 1 }")
          .suggestion
        == "message_concurrency");
}

TEST_CASE("a key in the wrong table is sent to the right one", "[toml]") {
  CHECK(mistake("[node]\nurl = \"postgres:///x\"").suggestion
        == "database.url");
  CHECK(mistake("[streams.a.groups.g]\ntimeout = \"3s\"").suggestion
        == "streams.a.groups.g.message.timeout");
  CHECK(mistake("[streams.a.groups.g]\nretention = \"3d\"").suggestion
        == "streams.a.retention");
}

TEST_CASE("a key of ever so many parts is a mistake, not a crash", "[toml]") {
  std::string key = "a";
  for (int i = 0; i < 50'000; ++i)
    key += ".a";
  CHECK(mistake(key + " = 1").problem.find("1000 parts") != std::string::npos);
  CHECK(mistake("[" + key + "]").line == 1);
}

TEST_CASE("a dotted name without quotes is recognised", "[toml]") {
  const auto wrong =
    mistake("[streams.payments.requested]\nretention = \"1d\"");
  CHECK(wrong.key_path == "streams.payments.requested");
  CHECK(wrong.suggestion == "streams.\"payments.requested\"");
}

TEST_CASE("wrong types say what was found and what is accepted", "[toml]") {
  const std::pair<const char*, const char*> cases[] = {
    {"[streams.a]\nretention = 30", "is the number 30"},
    {"[streams.a]\nretention = \"30 s\"", "is the text \"30 s\""},
    {"[streams.a]\nretention = \"-1s\"", "is the text \"-1s\""},
    {"[streams.a]\nretention = \"400y\"", "is the text \"400y\""},
    {"[streams.a]\npartition_size = \"30 s\"", "is the text \"30 s\""},
    {"[streams.a]\npartition_size = 1e30", "is the number 1e+30"},
    {"[streams.a]\npartition_size = -1", "is the number -1"},
    {"[streams.a]\npartition_size = 1", "is the number 1"},
    {"[streams.a]\npartition_size = true", "is true"},
    {"[streams.a]\nallow_drop_past_committed = \"no\"", "is the text \"no\""},
    {"[streams.a]\njanitor = 5", "is the number 5"},
    {"streams = 5", "is the number 5"},
    {"[streams]\na = 5", "is the number 5"},
    {"[streams.a]\ngroups = []", "is an array"},
    {"[database]\nmax_connections = 0", "is the number 0"},
    {"[database]\nschema = \"My Schema\"", "schema name \"My Schema\""},
    {"[database]\nurl = \"mysql://u:pw@db\"", "mysql://u:***@db"},
    {"[node]\nname = 5", "is the number 5"},
    {"[node]\non_session_end = \"ignore\"", "is the text \"ignore\""},
    {"[streams.a.groups.g]\nbindings = \"eu\"", "is the text \"eu\""},
    {"[streams.a.groups.g]\nbindings = [1]", "the number 1 among"},
    {"[streams.a.groups.g]\nschema_version = 0", "is the number 0"},
    {"[streams.a.groups.g]\nstart = \"end\"", "is the text \"end\""},
    {"[streams.a.groups.g]\nstart = { at_message = 0 }", "is a table"},
    {"[streams.a.groups.g]\nconcurrency_override = \"serial\"", "\"serial\""},
    {"[streams.a.groups.g]\nhandler = \"./x\"", "is the text \"./x\""},
    {"[streams.a.groups.g]\nhandler = {}", "has 0 keys"},
    {"[streams.a.groups.g]\nhandler = { exec = \"./x\" }", "exec is the text"},
    {"[streams.a.groups.g]\nhandler = { exec = [] }", "names no command"},
    {"[streams.a.groups.g]\nhandler = { log = false }", "log is false"},
    {"[streams.a.groups.g]\nhandler = { http = \"http://x\" }",
     "http is not supported"},
    {"[streams.a.groups.g]\nhandler = { actor = \"tls://x\" }",
     "actor is not supported"},
    {"[schedules.nightly]\ncron = \"x\"", "schedules are not supported"},
  };
  for (const auto& [text, problem] : cases) {
    INFO(text);
    const auto wrong = mistake(text);
    CHECK(has(wrong.problem, problem));
    CHECK_FALSE(wrong.accepted.empty());
    CHECK_FALSE(wrong.key_path.empty());
    CHECK(wrong.line >= 1);
    CHECK(wrong.column >= 1);
  }
}

TEST_CASE("values that contradict each other are reported where they stand",
          "[toml]") {
  const auto retry = mistake("[streams.a.groups.g]\nmessage = { retry = { "
                             "base_delay = \"2s\", max_delay = \"1s\" } }");
  CHECK(retry.key_path == "streams.a.groups.g.message.retry.max_delay");
  CHECK(retry.line == 2);
  CHECK(retry.column == 54);
  const auto minimum = mistake("[streams.a.groups.g]\n"
                               "message = { timeout = \"10s\" }\n"
                               "message_min = { timeout = \"20s\" }");
  CHECK(minimum.key_path == "streams.a.groups.g.message_min.timeout");
  CHECK(minimum.line == 3);
  const auto queue =
    mistake("[streams.a.groups.g.consume]\nbatch_limit = 9\nqueue_size = 3");
  CHECK(queue.key_path == "streams.a.groups.g.consume.queue_size");
  CHECK(queue.line == 3);
  const auto grace =
    mistake("[streams.a.producer.batch]\nattempt_timeout = \"1m\"");
  CHECK(grace.key_path == "streams.a.producer.batch.shutdown_grace");
  CHECK(grace.line == 2);
  const auto database = mistake("[database]\nretry = { base_delay = \"1h\" }");
  CHECK(database.key_path == "database.retry.max_delay");
}

TEST_CASE("an unreadable value has no consequences of its own", "[toml]") {
  // 30 s, the default, would contradict the ceiling.
  CHECK(mistake("[streams.a.groups.g]\nmessage = { timeout = 5 }\n"
                "message_max = { timeout = \"10s\" }")
          .key_path
        == "streams.a.groups.g.message.timeout");
}

TEST_CASE("what is declared twice is reported, however it is written",
          "[toml]") {
  const auto table = mistake("[streams.a]\n[streams.a]\nretention = \"1d\"");
  CHECK(table.line == 2);
  CHECK(has(table.problem, "a second time"));
  CHECK(mistake("[streams.orders]\n[streams.\"orders\"]\n").line == 2);
  CHECK(mistake("streams.orders.retention = \"1d\"\n[streams.orders]\n").line
        == 2);
  CHECK(mistake("[streams.a]\nretention = \"1d\"\nretention = \"2d\"").line
        == 3);
}

TEST_CASE("a number beyond 64 bits is a finding with its key", "[toml]") {
  const auto wrong =
    mistake("[streams.a]\npartition_size = 9223372036854775808\n");
  CHECK(wrong.line == 2);
  CHECK(wrong.key_path == "streams.a.partition_size");
  CHECK(has(wrong.accepted, "64 bits"));
}

TEST_CASE("mistakes of syntax do not hide what follows", "[toml]") {
  const auto all = mistakes("[streams.a.groups.g]\nbindings = [\"a\",\n"
                            "  \"b\"\nmesage = {}\n[node]\nnam = 1\n");
  REQUIRE(all.size() == 3);
  CHECK(all[0].key_path == "streams.a.groups.g.bindings");
  CHECK(all[1].key_path == "streams.a.groups.g.mesage");
  CHECK(all[2].key_path == "node.nam");
  CHECK(mistakes("[node]\nname = \"\"\"abc\n[streams.a]\n").size() == 1);
  CHECK(mistakes("[node\nname = \"x\"").size() == 1);
  CHECK_FALSE(mistakes("= = =\n[[[\n\x01").empty());
}

TEST_CASE("bytes that are not UTF-8 are shown with their position", "[toml]") {
  const auto all = mistakes("[node]\nname = \"caf\xE9\"\nnam = 1\n");
  REQUIRE(all.size() == 2);
  CHECK(all[0].line == 2);
  CHECK(all[0].column == 12);
  CHECK(has(all[0].problem, "0xE9"));
  CHECK(mistakes(std::string("\xFF\xFE[\0n\0", 6)).size() == 1);
  CHECK_FALSE(mistakes(std::string("[node]\nname = \"\0\"\n", 18)).empty());
}

TEST_CASE("columns count characters", "[toml]") {
  CHECK(mistake("[streams.a]\njanitor = { \"é\" = 1 }").column == 13);
  CHECK(mistake("[streams.\"é\"]\n").column == 10);
}

TEST_CASE("names are checked where they stand", "[toml]") {
  const auto stream = mistake("[streams.Orders]\n");
  CHECK(stream.line == 1);
  CHECK(stream.column == 10);
  CHECK(has(stream.problem, "'O' at byte 1"));
  CHECK(has(stream.accepted, "200"));
  CHECK(has(mistake("[streams.a.groups.\"b c\"]").problem, "a blank"));
  CHECK(has(mistake("[streams.\"__system.x\"]").problem, "reserved"));
}

TEST_CASE("secrets are looked up and never shown", "[toml]") {
  const environment env{
    [](const std::string& name) -> std::optional<std::string> {
      if (name == "DB")
        return "postgres://u:secret@db/app";
      return std::nullopt;
    },
    [](const std::string& path) -> std::optional<std::string> {
      if (path == "/run/db")
        return "host=db password=secret\n";
      return std::nullopt;
    }};
  const auto by_variable = read("[database]\nurl = \"env:DB\"", env);
  CHECK(by_variable.database.url == "postgres://u:secret@db/app");
  CHECK(read("[database]\nurl = \"file:/run/db\"", env).database.url
        == "host=db password=secret");
  const auto printed = print_configuration(by_variable);
  CHECK(has(printed, "postgres://u:***@db/app"));
  CHECK_FALSE(has(printed, "secret"));

  const auto unset = mistake("[database]\nurl = \"env:NOPE\"", env);
  CHECK(unset.line == 2);
  CHECK(has(unset.problem, "\"NOPE\", which is not set"));
  CHECK(has(mistake("[database]\nurl = \"file:/nope\"", env).problem,
            "cannot be read"));
  CHECK(has(mistake("[database]\nurl = \"env:DB\"").problem, "not set"));
}

TEST_CASE("a printed configuration has all effective values and reads back",
          "[toml]") {
  const auto first = read(R"(
[database]
url = "postgres:///app"
[streams."a.b"]
retention = "30d"
producer = {}
[streams."a.b".groups.g]
message = { timeout = "10s" }
message_min = { timeout = "1s" }
bindings = ["a\"\\b", "é"]
start = { at_time = 2025-01-31T12:00:00.25Z }
handler = { exec = ["x", ""] }
)");
  const auto printed = print_configuration(first);
  for (auto part :
       {"[streams.\"a.b\".groups.g]", "partition_size = 1000000",
        "exception_initial_backoff = \"5s\"",
        "message_min = { timeout = \"1s\" }", "max_waiting = 10000",
        "max_connections = 8", "on_session_end = \"restart\"",
        "queue_margin = \"15s\"", "at_time = 2025-01-31T12:00:00.250000Z"}) {
    INFO(part);
    CHECK(has(printed, part));
  }
  const auto second = read(printed);
  CHECK(print_configuration(second) == printed);
  CHECK(second.streams.at(0).groups.at(0).config.bindings
        == first.streams.at(0).groups.at(0).config.bindings);
  CHECK(second.streams.at(0).config
        == first.streams.at(0).config.with_defaults());
}

TEST_CASE("a duration beyond ten years is a mistake, wherever it stands",
          "[toml]") {
  const auto longest = read("[streams.a]\nretention = \"3650d\"");
  CHECK(longest.streams.at(0).config.retention == 24h * 3650);
  // The last one does not even fit the type.
  for (const auto* value : {"3650d1ns", "100000d", "999999d"}) {
    const auto wrong =
      mistake("[streams.a]\nretention = \"" + std::string{value} + "\"");
    CHECK(wrong.key_path == "streams.a.retention");
    CHECK(wrong.line == 2);
    CHECK(has(wrong.problem, value));
    CHECK(has(wrong.accepted, "at most 3650d"));
  }
  for (const auto* text :
       {"[streams.a]\njanitor = { poll_rate = \"100000d\" }",
        "[streams.a]\nproducer = { batch = { shutdown_grace = \"100000d\" } }",
        "[streams.a]\nproducer = { batch = { shutdown_grace = \"-100000d\" } }",
        "[streams.a.groups.g]\nmessage_min = { timeout = \"100000d\" }",
        "[streams.a.groups.g]\nconsume = { shutdown_timeout = \"100000d\" }",
        "[streams.a.groups.g]\nexception_initial_backoff = \"100000d\"",
        "[database]\nretry = { max_delay = \"100000d\" }"}) {
    INFO(text);
    const auto all = mistakes(text);
    CHECK(std::any_of(all.begin(), all.end(), [](const finding& one) {
      return has(one.accepted, "at most 3650d");
    }));
  }
}

TEST_CASE("a file that cannot be read is told apart from a wrong one",
          "[toml]") {
  const auto refusal = [](const std::filesystem::path& path) {
    try {
      static_cast<void>(load_configuration(path, {}));
    } catch (const error& e) {
      CHECK(has(e.detail(), path.string()));
      return e.number();
    }
    return code::usage;
  };
  CHECK(refusal(std::filesystem::temp_directory_path())
        == code::file_unreadable);
  CHECK(refusal("/nonexistent/app.toml") == code::file_unreadable);
  const scratch_file wrong{"nam = 1"};
  CHECK(refusal(wrong.path()) == code::invalid_configuration);
  const scratch_file right{"[node]\nname = \"x\"\n"};
  CHECK(load_configuration(right.path(), {}).node.name == "x");
}
