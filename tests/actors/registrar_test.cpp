#include "actors/log.hpp"
#include "actors/messages.hpp"
#include "tests/support/test_node.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

struct registrar_fixture {
  registrar_fixture() {
    redirect_log([this](const log_line& line) { lines.push_back(line); });
  }
  ~registrar_fixture() { redirect_log({}); }

  auto declare(stream_declaration_request declared) {
    return nodes.ask<stream_registration>(registrar, std::move(declared));
  }

  std::vector<log_line> lines;
  test_system nodes;
  scripted_actor<stream_declaration_request> storage{nodes};
  caf::actor registrar =
    nodes.own(spawn_registrar(nodes.system(), storage.handle()));
};

} // namespace

SCENARIO("a declaration is checked before the database sees it",
         "[registrar]") {
  registrar_fixture fixture;
  const auto refusal = [&](stream_declaration_request declared) {
    const auto answer = fixture.declare(std::move(declared));
    REQUIRE(answer->failure);
    CHECK(fixture.storage.requests().empty());
    return answer->failure->number();
  };
  CHECK(refusal({"Orders"}) == code::invalid_name);
  CHECK(refusal({"__system.orders"}) == code::reserved_name);
  CHECK(refusal({"orders", {.partition_size = 1}}) == code::invalid_option);
}

SCENARIO("a declaration is stored, answered and logged", "[registrar]") {
  GIVEN("a valid declaration on its way") {
    registrar_fixture fixture;
    const auto answer = fixture.declare({"orders"});
    REQUIRE(fixture.storage.requests().size() == 1);
    CHECK(answer->open());
    const auto reply = [&](registration_effect effect) {
      stream_registration result;
      result.effect = effect;
      result.stream.name = "orders";
      result.changes = "retention: 0 -> 30d";
      fixture.storage.answer(0, result);
      fixture.nodes.run();
    };

    WHEN("it created the stream") {
      reply(registration_effect::created);
      THEN("both say so") {
        REQUIRE(answer->reply);
        CHECK(answer->reply->effect == registration_effect::created);
        REQUIRE(fixture.lines.size() == 1);
        CHECK(fixture.lines[0].text == "stream created");
      }
    }
    WHEN("it changed the stream") {
      reply(registration_effect::updated);
      THEN("the log says from what to what") {
        REQUIRE(fixture.lines.size() == 1);
        CHECK(fixture.lines[0].number == code::stream_config_replaced);
        CHECK(fixture.lines[0].fields.back().value == "retention: 0 -> 30d");
      }
    }
    WHEN("it changed nothing") {
      reply(registration_effect::unchanged);
      THEN("that is no news") { CHECK(fixture.lines.empty()); }
    }
    WHEN("the database refuses") {
      fixture.storage.fail(0, error{code::partition_size_differs});
      fixture.nodes.run();
      THEN("its error is the answer") {
        REQUIRE(answer->failure);
        CHECK(answer->failure->number() == code::partition_size_differs);
      }
    }
    WHEN("storage never answers") {
      fixture.nodes.advance_by(1h);
      THEN("the registrar does not wait for ever") {
        REQUIRE(answer->failure);
        CHECK(answer->failure->number() == code::no_answer);
        CHECK(answer->failure->recover() == recovery::unknown);
      }
      AND_WHEN("the answer comes late") {
        reply(registration_effect::created);
        THEN("nothing happens") { CHECK_FALSE(answer->reply); }
      }
    }
  }

  GIVEN("a storage that has ended") {
    registrar_fixture fixture;
    caf::anon_send_exit(fixture.storage.handle(), caf::exit_reason::kill);
    fixture.nodes.run();
    THEN("a declaration fails at once") {
      const auto answer = fixture.declare({"orders"});
      REQUIRE(answer->failure);
      CHECK(answer->failure->number() == code::actor_failed);
    }
  }
}
