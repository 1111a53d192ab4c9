#include "tests/support/child_process.hpp"
#include "tests/support/test_database.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace sqlstreams::test;

namespace {

/// Runs an example in a schema of its own.
command_result run_example(const std::string& name, const std::string& schema,
                           const std::string& url = database_url()) {
  command what;
  what.argv = {std::string{SQLSTREAMS_PROGRAMS} + "/example_" + name};
  what.environment["SQLSTREAMS_DATABASE_URL"] = url;
  what.environment["SQLSTREAMS_SCHEMA"] = schema;
  return run_command(what);
}

std::size_t times(const std::string& text, const std::string& what) {
  std::size_t count = 0;
  for (auto at = text.find(what); at != std::string::npos;
       at = text.find(what, at + 1))
    ++count;
  return count;
}

} // namespace

SCENARIO("the example with callbacks runs", "[examples]") {
  const fresh_schema schema;
  GIVEN("an empty database") {
    const auto first = run_example("quickstart", schema.name());
    INFO(first.out << first.err);
    REQUIRE(first.status == 0);
    THEN("it charges each payment once") {
      CHECK(times(first.out, "charging order-") == 3);
      CHECK(times(first.out, "which was there already") == 1);
      CHECK(times(first.out, "done: 3 payments charged") == 1);
    }
    WHEN("it runs again") {
      const auto second = run_example("quickstart", schema.name());
      INFO(second.out << second.err);
      THEN("all payments are known already") {
        CHECK(second.status == 0);
        CHECK(times(second.out, "which was there already") == 4);
        CHECK(times(second.out, "done: 0 payments charged") == 1);
      }
    }
    WHEN("the group has got a message that is no payment") {
      command produce;
      produce.argv = {SQLSTREAMS_BIN, "--schema",           schema.name(),
                      "produce",      "payments.requested", R"({"n":1})"};
      produce.environment["SQLSTREAMS_DATABASE_URL"] = database_url();
      REQUIRE(run_command(produce).status == 0);
      const auto second = run_example("quickstart", schema.name());
      INFO(second.out << second.err);
      THEN("that is dead, and the example ends") {
        CHECK(second.status == 0);
        CHECK(times(second.out, "done: 0 payments charged") == 1);
      }
    }
  }
}

SCENARIO("the example with actors runs", "[examples]") {
  const fresh_schema schema;
  for (int run = 0; run < 2; ++run) {
    const auto result = run_example("actors", schema.name());
    INFO(result.out << result.err);
    CHECK(result.status == 0);
    CHECK(times(result.out, "24 degrees, highest 24") == 1);
    CHECK(times(result.out, "done: 5 readings handled") == 1);
  }
}

SCENARIO("the example with transactions runs", "[examples]") {
  const fresh_schema schema;
  const auto result = run_example("transactional", schema.name());
  INFO(result.out << result.err);
  CHECK(result.status == 0);
  CHECK(times(result.out, "order-4 was rolled back") == 1);
  CHECK(times(result.out, "done: 3 orders, 3 messages") == 1);
}

TEST_CASE("examples say what is wrong with the address", "[examples]") {
  const auto* name = GENERATE("quickstart", "actors", "transactional");
  const auto result =
    run_example(name, "sqlstreams", "postgresql://nobody@127.0.0.1:1/none");
  INFO(name << result.out << result.err);
  CHECK(result.status == 1);
  CHECK(result.err.find("SQL1020") != std::string::npos);
}
