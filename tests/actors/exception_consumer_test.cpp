#include "actors/exception_consumer.hpp"

#include "tests/actors/child_fixture.hpp"
#include "tests/actors/scripted_runner.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

struct consuming_exceptions {
  child_fixture<exception_claim_request, ready_to_claim, exceptions_claimed,
                exception_ended>
    c;
  handler_script_ptr script = std::make_shared<handler_script>();
  caf::actor child;

  explicit consuming_exceptions(int slots = 1) {
    exception_consumer_args args;
    args.common = c.args();
    args.common.options.exception_concurrency = slots;
    args.start_runner = scripted_runners(script);
    args.abandoned = std::make_shared<abandoned_runs>(1);
    child =
      c.node.own(c.node.system().spawn(exception_consumer, std::move(args)));
    c.node.run();
  }

  template <class Message>
  void tell(const Message& what) {
    caf::anon_send(child, what);
    c.node.run();
  }
  void grant(std::size_t limit) { tell(claim_granted{limit, 0}); }
  void answer(std::vector<message_id> ids, message like = {}) {
    exception_claim_result result;
    for (const auto id : ids) {
      like.id = id;
      result.claimed.push_back({"token", 1, 0, like});
    }
    c.storage.answer(c.storage.requests().size() - 1, std::move(result));
    c.node.run();
  }
  const std::vector<exception_ended>& ended() {
    return c.heard<exception_ended>();
  }
  std::size_t offers() { return c.heard<ready_to_claim>().size(); }
};

} // namespace

SCENARIO("exceptions run as slots are free", "[exceptions]") {
  consuming_exceptions given{2};
  REQUIRE(given.offers() >= 1);
  given.script->takes = 1s;
  given.grant(2);
  REQUIRE(given.c.storage.requests().size() == 1);
  CHECK(given.c.storage.requests()[0].limit <= 2);
  CHECK(given.c.storage.requests()[0].lease == 30s + 100ms + 15s + 2s);
  given.answer({5, 9});
  CHECK(given.c.heard<exceptions_claimed>().at(0).count == 2);
  CHECK(given.script->started == std::vector<message_id>{5, 9});
  const auto offers = given.offers();
  given.c.node.advance_by(900ms);
  CHECK(given.offers() == offers); // none is free

  WHEN("they have ended") {
    given.c.node.advance_by(100ms);
    THEN("their outcomes go to the session and more is asked for at once") {
      REQUIRE(given.ended().size() == 2);
      CHECK_FALSE(given.ended()[0].settlement.change.keeps_row);
      CHECK(given.ended()[0].settlement.token == "token");
      CHECK(given.offers() == offers + 1);
    }
  }
  WHEN("a runner dies") {
    auto& state = static_cast<caf::stateful_actor<exception_consumer_state>*>(
                    caf::actor_cast<caf::abstract_actor*>(given.child))
                    ->state;
    caf::anon_send_exit(state.slots[0].runner.get(), caf::exit_reason::kill);
    given.c.node.run();
    THEN("its exception is given back without an attempt charged") {
      REQUIRE(given.ended().size() == 1);
      const auto& change = given.ended()[0].settlement.change;
      CHECK(change.status == exception_status::deferred);
      CHECK(change.attempts == 1);
      given.c.node.advance_by(200ms);
      CHECK(state.slots[0].runner);
    }
  }
  WHEN("the session ends") {
    given.tell(finish_early{});
    given.c.node.advance_by(1min);
    THEN("what runs ends, and nothing more is claimed") {
      CHECK(given.ended().size() == 2);
      CHECK(given.offers() == offers);
    }
  }
}

SCENARIO("exceptions that arrive at the end are given back", "[exceptions]") {
  consuming_exceptions given;
  given.grant(1);
  given.tell(finish_early{});
  given.answer({5});
  REQUIRE(given.ended().size() == 1);
  CHECK(given.ended()[0].settlement.change.status
        == exception_status::deferred);
  CHECK(given.script->started.empty());
}

SCENARIO("an exception that cannot be run is not run", "[exceptions]") {
  consuming_exceptions given;
  given.grant(1);
  message subject;

  WHEN("it is broken") {
    subject.defect = "no headers";
    given.answer({5}, subject);
    THEN("it is dead") {
      REQUIRE(given.ended().size() == 1);
      CHECK(given.ended()[0].settlement.change.status
            == exception_status::dead);
    }
  }
  WHEN("its key would have to be free") {
    subject.message_key = "k";
    subject.options.concurrency = concurrency::exclusive;
    given.answer({5}, subject);
    THEN("it is given back and the session ends") {
      REQUIRE(given.ended().size() == 1);
      CHECK(given.ended()[0].settlement.change.status
            == exception_status::deferred);
      CHECK(given.c.failures()
            == std::vector<code>{code::keyed_policy_unsupported});
    }
  }
  CHECK(given.script->started.empty());
}

SCENARIO("failed claims of exceptions wait for the poll", "[exceptions]") {
  consuming_exceptions given;
  const auto offers = given.offers();
  given.grant(1);
  given.c.storage.fail(0, error{code::database_unreachable});
  given.c.node.run();
  CHECK(given.c.heard<exceptions_claimed>().at(0).count == 0);
  CHECK(given.offers() == offers);
  given.c.node.advance_by(600ms);
  CHECK(given.offers() == offers + 1);
}
