#include "actors/claimer.hpp"

#include "actors/log.hpp"
#include "tests/actors/child_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

struct claiming {
  child_fixture<claim_request, ready_to_claim, fresh_claimed> c;
  caf::actor child = c.start(claimer);

  void grant(std::size_t limit = 10) {
    caf::anon_send(child, claim_granted{limit, 1000});
    c.node.run();
  }
  void answer(claim_result result) {
    c.storage.answer(c.storage.requests().size() - 1, std::move(result));
    c.node.run();
  }
};

claim_result found(bool more) {
  claim_result result;
  result.claimed = claimed_range{"token", {0, 5}, 0, {}};
  result.more = more;
  return result;
}

} // namespace

SCENARIO("a claim asks for what was granted and is leased from before it",
         "[claimer]") {
  claiming given;
  REQUIRE(given.c.heard<ready_to_claim>().size() == 1);
  given.c.node.advance_by(1s);
  CHECK(given.c.storage.requests().empty()); // not granted yet
  const auto claimed_at = given.c.node.scheduler().clock().now();
  given.grant();
  REQUIRE(given.c.storage.requests().size() == 1);
  const auto& request = given.c.storage.requests()[0];
  CHECK(request.limit == 10);
  CHECK(request.limit_bytes == 1000);
  CHECK(request.lease == 30s + 100ms + 15s + 2s);
  CHECK(request.holder == "a");

  WHEN("the answer takes its time") {
    given.c.node.advance_by(3s);
    given.answer(found(true));
    const auto& claimed = given.c.heard<fresh_claimed>().at(0);
    THEN("what remains of the lease is measured from the request") {
      CHECK(claimed.claimed->token == "token");
      CHECK(claimed.lease_end - request.lease == claimed_at);
    }
    THEN("it is ready again at once: there is more") {
      CHECK(given.c.heard<ready_to_claim>().size() == 2);
    }
  }
  WHEN("there is no more") {
    given.answer(found(false));
    CHECK(given.c.heard<ready_to_claim>().size() == 1);
    given.c.node.advance_by(449ms);
    CHECK(given.c.heard<ready_to_claim>().size() == 1);
    THEN("it is ready again after a poll, a tenth more or less") {
      given.c.node.advance_by(102ms);
      CHECK(given.c.heard<ready_to_claim>().size() == 2);
    }
  }
  WHEN("no answer comes") {
    given.c.node.advance_by(1min);
    THEN("that is a failed claim, and the poll goes on") {
      REQUIRE(given.c.heard<fresh_claimed>().size() == 1);
      CHECK_FALSE(given.c.heard<fresh_claimed>()[0].known);
      CHECK(given.c.heard<ready_to_claim>().size() == 2);
      AND_WHEN("it comes after all") {
        given.answer(found(true));
        THEN("it is ignored: the lease may be over") {
          CHECK(given.c.heard<fresh_claimed>().size() == 1);
        }
      }
    }
  }
  WHEN("the database says that it can never work") {
    given.c.storage.fail(0, error{code::group_not_found, "billing"});
    given.c.node.run();
    THEN("the session is told, and nothing more is claimed") {
      REQUIRE(given.c.failures().size() == 1);
      CHECK(given.c.failures()[0] == code::group_not_found);
      given.c.node.advance_by(1min);
      CHECK(given.c.heard<ready_to_claim>().size() == 1);
    }
  }
}

SCENARIO("a producer that holds claims up for long is named", "[claimer]") {
  std::vector<log_line> lines;
  redirect_log([&](const log_line& line) { lines.push_back(line); });
  claiming given;
  claim_result held;
  held.hold = claim_hold{7, 4711, "importer", 12s};
  for (int i = 0; i < 40; ++i) {
    given.grant();
    given.answer(held);
    given.c.node.advance_by(550ms);
  }
  redirect_log({});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].number == code::claim_held_up);
  const auto has = [&](std::string_view name, std::string_view value) {
    return std::any_of(lines[0].fields.begin(), lines[0].fields.end(),
                       [&](const log_field& field) {
                         return field.name == name && field.value == value;
                       });
  };
  CHECK(has("pid", "4711"));
  CHECK(has("application", "importer"));
  CHECK(has("id", "7"));
  CHECK(has("age", "12s"));
}

SCENARIO("messages that retention dropped are reported", "[claimer]") {
  std::vector<code> codes;
  redirect_log([&](const log_line& line) { codes.push_back(line.number); });
  claiming given;
  given.grant();
  auto result = found(true);
  result.behind_retention = id_range{3, 90};
  given.answer(result);
  redirect_log({});
  CHECK(codes == std::vector<code>{code::cursor_behind_retention});
}

SCENARIO("a claim that waits for a producer looks again soon, then less often",
         "[claimer]") {
  claiming given;
  claim_result held;
  held.hold = claim_hold{7, 4711, "importer", 1ms};
  const auto looks_within = [&](std::chrono::milliseconds time) {
    const auto before = given.c.heard<ready_to_claim>().size();
    given.c.node.advance_by(time);
    return given.c.heard<ready_to_claim>().size() - before;
  };
  given.grant();
  given.answer(held);
  CHECK(looks_within(10ms) == 1);
  for (int i = 0; i < 8; ++i) {
    given.grant();
    given.answer(held);
    given.c.node.advance_by(600ms);
  }
  given.grant();
  given.answer(held);
  CHECK(looks_within(100ms) == 0);
  CHECK(looks_within(600ms) == 1);
}
