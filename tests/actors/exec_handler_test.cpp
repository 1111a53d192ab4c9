#include "actors/exec_handler.hpp"

#include "actors/child_command.hpp"
#include "actors/message_json.hpp"
#include "config/error.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <future>
#include <iterator>
#include <optional>
#include <stop_token>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

std::vector<std::string> shell(std::string script) {
  return {"sh", "-c", std::move(script)};
}

message subject() {
  message result;
  result.id = 42;
  result.payload = R"({"n":1})";
  result.message_key = "k";
  result.headers = {{"trace-id", "a b"}, {"Other", "100%\n'\""}};
  return result;
}

outcome run(const message_handler& handler, const message& what,
            std::stop_token stop = {}) {
  static const std::string stream = "orders";
  static const std::string group = "billing";
  delivery one{what, stream, group, 2, 1, {}, {}, std::move(stop)};
  return handler(one);
}

outcome run(std::string script) {
  return run(make_exec_handler(shell(std::move(script))), subject());
}

/// A variable of our own environment, while it lives.
class scoped_variable {
public:
  scoped_variable(std::string name, const std::string& value)
    : name_{std::move(name)} {
    if (const auto* before = std::getenv(name_.c_str()))
      before_ = before;
    ::setenv(name_.c_str(), value.c_str(), 1);
  }
  ~scoped_variable() {
    if (before_)
      ::setenv(name_.c_str(), before_->c_str(), 1);
    else
      ::unsetenv(name_.c_str());
  }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

private:
  std::string name_;
  std::optional<std::string> before_;
};

std::size_t open_files() {
  return static_cast<std::size_t>(
    std::distance(std::filesystem::directory_iterator{"/proc/self/fd"},
                  std::filesystem::directory_iterator{}));
}

} // namespace

TEST_CASE("a command's exit status is its outcome", "[exec]") {
  CHECK(run("exit 0") == done());
  CHECK(run("echo hopeless >&2; exit 65") == dead("exit status 65: hopeless"));
  CHECK(run("echo later >&2; exit 75") == retry("exit status 75: later"));
  CHECK(run("exit 1") == retry("exit status 1"));
  const auto killed = run("kill -9 $$");
  CHECK(killed.kind == outcome_kind::retry);
  CHECK(killed.error.starts_with("ended by signal"));
}

TEST_CASE("a command gets the payload on standard input", "[exec]") {
  const std::string compare = R"([ "`cat`" = '{"n":1}' ])";
  CHECK(run(compare) == done());

  auto large = subject();
  large.payload.assign(8u << 20, 'x');
  const auto count = make_exec_handler(shell("[ $(wc -c) = 8388608 ]"));
  CHECK(run(count, large) == done());

  // It need not read it.
  const auto deaf = make_exec_handler(shell("exit 0"));
  CHECK(run(deaf, large) == done());
}

TEST_CASE("a command gets the rest in its environment", "[exec]") {
  const std::string script = R"([ "$SQLSTREAMS_ID" = 42 ] \
    && [ "$SQLSTREAMS_STREAM" = orders ] \
    && [ "$SQLSTREAMS_GROUP" = billing ] \
    && [ "$SQLSTREAMS_ATTEMPT" = 2 ] && [ "$SQLSTREAMS_DELAYS" = 1 ] \
    && [ "$SQLSTREAMS_MESSAGE_KEY" = k ] \
    && [ -z "${SQLSTREAMS_ROUTING_KEY+set}" ] \
    && [ "$SQLSTREAMS_CONTENT_TYPE" = application/json ] \
    && [ "$SQLSTREAMS_HEADER_TRACE_ID" = 'a b' ] \
    && [ "$SQLSTREAMS_HEADER_OTHER" = "100%
'\"" ] && [ -n "$PATH" ])";
  CHECK(run(script) == done());
}

TEST_CASE("a command is not told the password of our database", "[exec]") {
  const scoped_variable url{"SQLSTREAMS_DATABASE_URL",
                            "postgresql://me:secret@localhost/orders"};
  const scoped_variable other{"SQLSTREAMS_DATABASE_URL_OF_MINE", "kept"};
  const scoped_variable foreign{"DATABASE_URL", "kept"};
  CHECK(run("! env | grep -q secret") == done());
  CHECK(run(R"([ -z "${SQLSTREAMS_DATABASE_URL+set}" ] \
    && [ "$SQLSTREAMS_DATABASE_URL_OF_MINE" = kept ] \
    && [ "$DATABASE_URL" = kept ])")
        == done());
}

TEST_CASE("the end of a long error output is kept", "[exec]") {
  const auto result =
    run("yes x | head -c 100000 >&2; echo the end >&2; exit 1");
  CHECK(result.error.size() <= 8192);
  CHECK(result.error.starts_with("exit status 1: "));
  CHECK(result.error.ends_with("the end"));
}

SCENARIO("a command that is told to stop ends, with its children", "[exec]") {
  std::stop_source stop;
  // The pipe ends when all who hold it have ended.
  const auto script =
    GENERATE(as<std::string>{}, "sleep 1000", "sleep 1000 & wait",
             "trap '' TERM; while :; do sleep 1000; done");
  const auto handler = make_exec_handler(shell(script), 50ms);
  auto result = std::async(std::launch::async, [&] {
    return run(handler, subject(), stop.get_token());
  });
  stop.request_stop();
  const auto ended = result.get();
  CHECK(ended.kind == outcome_kind::retry);
  CHECK(ended.error.starts_with("stopped (over time"));
}

TEST_CASE("children that a command leaves behind are not waited for",
          "[exec]") {
  CHECK(run("sleep 5 & exit 0") == done());
}

TEST_CASE("a command that does not exist is refused when named", "[exec]") {
  const auto number_for = [](std::vector<std::string> command) {
    try {
      make_exec_handler(std::move(command));
    } catch (const error& e) {
      return e.number();
    }
    return code{};
  };
  CHECK(number_for({"/no/such/command"}) == code::command_not_found);
  CHECK(number_for({"no-such-command-anywhere"}) == code::command_not_found);
  CHECK(number_for({"/etc"}) == code::command_not_found);
  CHECK(number_for({"/etc/passwd"}) == code::command_not_found);
  CHECK(number_for({""}) == code::command_not_found);
  CHECK(number_for({}) == code::invalid_option);
}

TEST_CASE("commands are looked for along the search path", "[exec]") {
  CHECK(find_command("sh", "/nowhere::/bin") == "/bin/sh");
  CHECK_FALSE(find_command("sh", "/nowhere"));
  CHECK_FALSE(find_command("sh", ""));
}

TEST_CASE("many threads run commands and leave nothing open", "[exec]") {
  // Tells how many files it was given.
  const auto handler =
    make_exec_handler(shell("ls /proc/self/fd | wc -l >&2; exit 1"));
  const auto alone = run(handler, subject());
  REQUIRE(alone.kind == outcome_kind::retry);
  const auto before = open_files();
  std::vector<std::future<int>> all;
  for (int i = 0; i < 4; ++i)
    all.push_back(std::async(std::launch::async, [&] {
      int different = 0;
      for (int k = 0; k < 25; ++k)
        different += run(handler, subject()) == alone ? 0 : 1;
      return different;
    }));
  for (auto& each : all)
    CHECK(each.get() == 0);
  CHECK(open_files() == before);
}

TEST_CASE("a message is printed as one line of JSON", "[exec]") {
  auto what = subject();
  what.payload = "{\n  \"n\": 1\n}";
  static const std::string stream = "orders";
  static const std::string group = "billing";
  delivery one{what, stream, group, 2, 1, {}, {}, {}};
  CHECK(message_json(what, stream, &one)
        == R"({"id":42,"payload":{   "n": 1 },"attempt":2,"delays":1,)"
           R"("stream":"orders","group":"billing","message_key":"k",)"
           R"("routing_key":null,)"
           R"("headers":{"Other":"100%\n'\"","trace-id":"a b"},)"
           R"("schema_version":1,"created_at":"1970-01-01T00:00:00.000000Z"})");
  what.headers.clear();
  what.payload = std::string{"\0\xFF\x10z", 4};
  what.content_type = "application/octet-stream";
  CHECK(message_json(what, stream, nullptr)
        == R"({"id":42,"payload_base64":"AP8Qeg==",)"
           R"("content_type":"application/octet-stream","stream":"orders",)"
           R"("message_key":"k","routing_key":null,"headers":{},)"
           R"("schema_version":1,"created_at":"1970-01-01T00:00:00.000000Z"})");
}
