#include "actors/consumer_session.hpp"

#include "actors/log.hpp"
#include "actors/spawn.hpp"
#include "tests/actors/fake_group.hpp"
#include "tests/actors/scripted_runner.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

/// Codes of the events that are written while it lives.
class event_log {
public:
  event_log() {
    redirect_log([codes = codes_](const log_line& line) {
      codes->push_back(line.number);
    });
  }
  ~event_log() { redirect_log({}); }
  event_log(const event_log&) = delete;
  event_log& operator=(const event_log&) = delete;

  [[nodiscard]] std::ptrdiff_t count(code number) const {
    return std::count(codes_->begin(), codes_->end(), number);
  }

private:
  std::shared_ptr<std::vector<code>> codes_ =
    std::make_shared<std::vector<code>>();
};

/// A session over a fake group with scripted handlers.
struct consuming {
  event_log events;
  test_system node;
  fake_group_ptr group = std::make_shared<fake_group>();
  handler_script_ptr script = std::make_shared<handler_script>();
  caf::actor storage = node.own(node.system().spawn(fake_storage, group));
  std::shared_ptr<std::vector<session_ended>> ended =
    std::make_shared<std::vector<session_ended>>();
  caf::actor owner = node.own(node.system().spawn(
    [ended = ended](caf::event_based_actor*) -> caf::behavior {
      return {[=](const session_ended& what) {
        ended->push_back(what);
      }};
    }));
  consume_spec spec;
  caf::actor session;

  consuming() {
    spec.handler = message_handler{[](delivery&) {
      return done();
    }};
    spec.instance = "a";
  }

  caf::actor start_another() {
    auto given = spec;
    given.stream = group->stream;
    given.group = group->group;
    consumer_session_args args;
    args.storage = storage;
    args.spec = checked_spec(std::move(given));
    args.owner = owner;
    args.start_runner = scripted_runners(script);
    return node.own(node.system().spawn(consumer_session, std::move(args)));
  }

  void start() {
    session = start_another();
    node.run();
  }

  auto stop() { return node.ask<session_totals>(session, stop_consuming{}); }

  consumer_session_state& state() {
    return static_cast<caf::stateful_actor<consumer_session_state>*>(
             caf::actor_cast<caf::abstract_actor*>(session))
      ->state;
  }

  bool has_ended() { return test_system::ended(session); }

  std::vector<message_id> sorted_starts() const {
    auto ids = script->started;
    std::sort(ids.begin(), ids.end());
    return ids;
  }
};

std::vector<message_id> first_ids(std::size_t count) {
  std::vector<message_id> ids(count);
  std::iota(ids.begin(), ids.end(), 1);
  return ids;
}

} // namespace

SCENARIO("every message is handled once and the group's cursor follows",
         "[session]") {
  consuming c;
  c.group->produce(1234);
  const auto before = c.node.system().registry().running();
  c.start();
  c.node.advance_by(2s);
  CHECK(c.script->started == first_ids(1234));
  CHECK(c.group->committed() == 1234);
  CHECK(c.group->exceptions.empty());

  WHEN("it is stopped") {
    const auto answer = c.stop();
    THEN("it says what it did, and nobody is left") {
      REQUIRE(answer->reply);
      CHECK(answer->reply->claimed == 1234);
      CHECK(answer->reply->success == 1234);
      CHECK(answer->reply->surrendered == 0);
      CHECK(c.has_ended());
      REQUIRE(c.ended->size() == 1);
      CHECK(c.ended->at(0).code == 0);
      CHECK(c.ended->at(0).group == "billing");
      CHECK(c.node.system().registry().running() == before);
    }
  }
  WHEN("more is produced") {
    c.group->produce(10);
    c.node.advance_by(1s);
    THEN("the next poll brings it") { CHECK(c.group->committed() == 1244); }
  }
  WHEN("nothing happens") {
    const auto settles = c.group->settles;
    const auto claims = c.group->claims;
    c.node.advance_by(10s);
    THEN("it polls at its rate and writes nothing") {
      CHECK(c.group->settles == settles);
      CHECK(c.group->claims - claims >= 18);
      CHECK(c.group->claims - claims <= 23);
    }
  }
}

SCENARIO("a failed message comes again after its backoff", "[session]") {
  consuming c;
  c.group->produce(3);
  c.script->handler = [](const run_item& item) {
    return item.message->id == 2 && item.attempt == 0 ? retry("not yet")
                                                      : done();
  };
  c.start();
  c.node.advance_by(2s);
  CHECK(c.script->started == std::vector<message_id>{1, 2, 3});
  CHECK(c.group->exceptions.at(2).error == "not yet");
  CHECK(c.group->committed() == 1);
  c.node.advance_by(2s);
  CHECK(c.script->started.size() == 3);
  c.node.advance_by(3s);
  CHECK(c.script->started.back() == 2);
  CHECK(c.script->attempts.back() == 1);
  c.node.advance_by(1s);
  CHECK(c.group->exceptions.empty());
  CHECK(c.group->committed() == 3);
  CHECK(c.stop()->reply->ready == 1);
}

SCENARIO("a message that never succeeds is dead after its budget",
         "[session]") {
  consuming c;
  c.group->produce(20);
  c.script->handler = [](const run_item& item) {
    return item.message->id == 5 ? retry("poison") : done();
  };
  c.start();
  c.node.advance_by(30s);
  CHECK(c.group->exceptions.at(5).status == exception_status::dead);
  CHECK(c.group->exceptions.at(5).attempts == 3);
  CHECK(c.group->committed() == 20);
  CHECK(std::count(c.script->started.begin(), c.script->started.end(), 5) == 4);
  CHECK(c.events.count(code::exception_dead) == 1);
  CHECK(c.stop()->reply->dead == 1);
}

SCENARIO("a message that is broken is dead without being run", "[session]") {
  consuming c;
  message broken;
  broken.defect = "headers are no object";
  c.group->produce(1, broken);
  c.group->produce(1);
  c.start();
  c.node.advance_by(1s);
  CHECK(c.script->started == std::vector<message_id>{2});
  CHECK(c.group->exceptions.at(1).status == exception_status::dead);
  CHECK(c.group->exceptions.at(1).error == "headers are no object");
  CHECK(c.events.count(code::range_recorded_dead) == 1);
}

SCENARIO("ranges of a holder that vanished are taken over first", "[session]") {
  consuming c;
  c.group->produce(10);
  c.group->claimed = 4;
  c.group->leases["gone"] = {{0, 4}, "b", {}, 0, false};
  c.start();
  c.node.advance_by(1s);
  CHECK(c.script->started == first_ids(10));
  CHECK(c.group->committed() == 10);
  CHECK(c.events.count(code::range_reclaimed) == 1);
  CHECK(c.stop()->reply->reclaimed == 1);
}

SCENARIO("a range that loses its holders again and again is quarantined",
         "[session]") {
  consuming c;
  c.group->produce(4);
  c.group->claimed = 4;
  c.group->leases["gone"] = {{0, 4}, "b", {}, 3, false};
  c.start();
  c.node.advance_by(3s);
  CHECK(c.sorted_starts() == first_ids(4));
  CHECK(c.script->most_running == 1);
  CHECK(c.group->committed() == 4);
  CHECK(c.events.count(code::range_quarantined) == 1);
  CHECK(c.stop()->reply->quarantined == 1);
}

SCENARIO("what is not started at shutdown starts at once elsewhere",
         "[session]") {
  consuming c;
  c.spec.options.batch_limit = 100;
  c.group->produce(100);
  c.script->takes = 1s;
  c.start();
  c.node.advance_by(3500ms);
  CHECK(c.script->started == first_ids(4));
  const auto answer = c.stop();
  CHECK(answer->open());

  WHEN("the running handler has ended") {
    c.node.advance_by(500ms);
    THEN("the session has too; the rest was given back") {
      REQUIRE(answer->reply);
      CHECK(answer->reply->success == 4);
      CHECK(answer->reply->surrendered == 96);
      CHECK(c.group->committed() == 4);
      AND_WHEN("another instance starts") {
        c.script->started.clear();
        c.start();
        c.node.advance_by(100ms);
        THEN("it goes on at once, and nobody vanished") {
          CHECK(c.script->started == std::vector<message_id>{5});
          CHECK(c.script->attempts.back() == 0);
          CHECK(c.events.count(code::range_reclaimed) == 0);
        }
      }
    }
  }
}

SCENARIO("a handler that does not end holds a shutdown up no longer than its "
         "budget",
         "[session]") {
  consuming c;
  c.spec.options.shutdown_timeout = 10s;
  c.group->produce(5);
  c.script->takes = 1h;
  c.start();
  const auto answer = c.stop();
  c.node.advance_by(7s);
  CHECK(answer->open());
  c.node.advance_by(1100ms);
  REQUIRE(answer->reply);
  CHECK(answer->reply->abandoned == 1);
  CHECK(answer->reply->deferred == 1);
  CHECK(answer->reply->ready == 0);
  CHECK(answer->reply->surrendered == 4);
}

SCENARIO("a run that a shutdown cuts short spends no attempt", "[session]") {
  consuming c;
  c.spec.options.shutdown_timeout = 10s;
  c.script->takes = 1h;

  const auto runs_again_at = [&](message_id id, std::int64_t attempt) {
    c.script->takes = 0s;
    c.script->started.clear();
    c.script->attempts.clear();
    c.start();
    c.node.advance_by(1s);
    CHECK(c.sorted_starts() == first_ids(c.group->log.size()));
    const auto found =
      std::find(c.script->started.begin(), c.script->started.end(), id);
    REQUIRE(found != c.script->started.end());
    CHECK(
      c.script
        ->attempts[static_cast<std::size_t>(found - c.script->started.begin())]
      == attempt);
  };

  GIVEN("the first run of a message") {
    c.group->produce(3);
    c.start();
    WHEN("it has to be abandoned") {
      c.stop();
      c.node.advance_by(10s);
      REQUIRE(c.has_ended());
      CHECK(c.group->exceptions.at(1).status == exception_status::deferred);
      THEN("it runs again at once, as a first attempt") {
        runs_again_at(1, 0);
        CHECK(c.group->committed() == 3);
      }
    }
  }
  GIVEN("a later run") {
    c.group->produce(1);
    c.group->claimed = 1;
    c.group->exceptions[1].attempts = 2;
    c.start();
    REQUIRE(c.script->attempts == std::vector<std::int64_t>{2});
    WHEN("it has to be abandoned") {
      const auto answer = c.stop();
      c.node.advance_by(10s);
      REQUIRE(answer->reply);
      CHECK(answer->reply->deferred == 1);
      THEN("it runs again at once, as the same attempt") {
        runs_again_at(1, 2);
        CHECK(c.group->exceptions.empty());
      }
    }
  }
}

SCENARIO("a session that can record nothing any more ends at once",
         "[session]") {
  consuming c;
  c.spec.options.shutdown_timeout = 1min;
  c.spec.options.message_concurrency = 2;
  c.group->produce(20);
  c.script->takes = 300ms;
  c.start();
  c.group->settle_error = error{code::permission_denied};
  const bool asked = GENERATE(false, true);
  if (asked)
    c.stop();
  c.node.advance_by(3s);
  REQUIRE(c.has_ended());
  REQUIRE(c.ended->size() == 1);
  CHECK(c.ended->at(0).code
        == static_cast<std::uint16_t>(code::permission_denied));
  CHECK(c.ended->at(0).totals.success == 0);
}

SCENARIO("an outcome counts when it is recorded", "[session]") {
  consuming c;
  c.group->produce(10);
  c.group->settle_error = error{code::database_unreachable};
  c.start();
  c.node.advance_by(1s);
  const auto totals = [&] {
    const auto answer =
      c.node.ask<session_totals>(c.session, get_session_totals{});
    c.node.run();
    return answer->reply.value();
  };
  CHECK(c.script->started == first_ids(10));
  CHECK(totals().claimed == 10);
  CHECK(totals().success == 0);
  c.group->settle_error.reset();
  c.node.advance_by(6s);
  CHECK(totals().success == 10);
}

SCENARIO("a shutdown ends in time though the database does not answer",
         "[session]") {
  consuming c;
  c.spec.options.shutdown_timeout = 5s;
  c.group->produce(5);
  c.start();
  c.group->silent = true;
  c.group->produce(5);
  c.node.advance_by(1s);
  const auto answer = c.stop();
  c.node.advance_by(4900ms);
  CHECK(answer->open());
  c.node.advance_by(100ms);
  REQUIRE(answer->reply);
  CHECK(c.has_ended());
}

SCENARIO("outcomes outlive a settle that got lost", "[session]") {
  consuming c;
  c.group->produce(10);

  WHEN("the request got lost") {
    c.group->lost_settles = 1;
    c.start();
    c.node.advance_by(1s);
    CHECK(c.group->committed() == 0);
    c.node.advance_by(20s);
    THEN("it is made again") {
      CHECK(c.group->committed() == 10);
      CHECK(c.script->started == first_ids(10));
      CHECK(c.stop()->reply->lease_lost == 0);
    }
  }
  WHEN("the answer got lost") {
    c.group->lost_settle_answers = 1;
    c.start();
    c.node.advance_by(30s);
    THEN("nothing is written twice, nothing runs twice") {
      CHECK(c.group->committed() == 10);
      CHECK(c.script->started == first_ids(10));
      CHECK(c.events.count(code::lease_lost) == 0);
      c.group->produce(1);
      c.node.advance_by(1s);
      CHECK(c.group->committed() == 11);
    }
  }
  WHEN("the database is away for a while") {
    c.group->settle_error = error{code::database_unreachable};
    c.start();
    c.node.advance_by(20s);
    c.group->settle_error.reset();
    c.node.advance_by(6s);
    THEN("they are written then") {
      CHECK(c.group->committed() == 10);
      CHECK(c.script->started == first_ids(10));
    }
  }
  WHEN("it is away for longer than the lease") {
    c.group->settle_error = error{code::database_unreachable};
    c.start();
    c.node.advance_by(60s);
    c.group->settle_error.reset();
    c.node.advance_by(10s);
    THEN("the messages run again") {
      CHECK(c.events.count(code::lease_lost) >= 1);
      CHECK(c.group->committed() == 10);
      CHECK(c.script->started.size() > 10);
    }
  }
}

SCENARIO("a range that another instance took over is not written to",
         "[session]") {
  consuming c;
  c.spec.options.batch_limit = 4;
  c.group->produce(4);
  c.script->takes = 1s;
  c.start();
  c.node.advance_by(500ms);
  const auto lease = c.group->leases.begin()->second;
  c.group->leases.clear();
  c.group->leases["other"] = lease;
  c.group->leases["other"].expires += 1h;
  c.node.advance_by(10s);
  CHECK(c.group->committed() == 0);
  CHECK(c.events.count(code::lease_lost) == 1);
  CHECK(c.script->started.size() < 4);
  CHECK(c.stop()->reply->lease_lost == 1);
}

SCENARIO("long ranges are recorded while they last", "[session]") {
  consuming c;
  c.group->produce(100);
  c.script->takes = 700ms;
  c.start();
  c.node.advance_by(5s);
  CHECK(c.group->committed() >= 4);
  CHECK(c.group->leases.size() >= 1);
}

SCENARIO("a part that dies is replaced and nothing is lost", "[session]") {
  consuming c;
  c.spec.options.batch_limit = 10;
  c.spec.options.message_concurrency = 2;
  c.script->takes = 300ms;
  c.group->produce(60);
  c.start();
  const auto which =
    GENERATE(session_child::recorder, session_child::lease_reclaimer,
             session_child::claimer, session_child::exception_consumer,
             session_child::config_refresher);
  for (int i = 0; i < 5; ++i) {
    c.node.advance_by(700ms);
    if (c.state()[which].actor)
      caf::anon_send_exit(c.state()[which].actor.get(), caf::exit_reason::kill);
  }
  c.node.advance_by(60s);
  CHECK(c.sorted_starts() == first_ids(60));
  CHECK(c.group->committed() == 60);
  CHECK(c.events.count(code::actor_failed) == 5);
}

SCENARIO("the messages of a runner that dies run again", "[session]") {
  consuming c;
  c.group->produce(20);
  c.script->takes = 300ms;
  c.start();
  c.node.advance_by(1s);
  caf::anon_send_exit(c.state().runners.at(0).actor.get(),
                      caf::exit_reason::kill);
  c.node.advance_by(60s);
  CHECK(c.group->committed() == 20);
  CHECK(c.script->started.size() == 21); // the one that ran, once more
}

SCENARIO("a session that is killed takes its children with it", "[session]") {
  consuming c;
  c.group->produce(20);
  c.script->takes = 300ms;
  const auto before = c.node.system().registry().running();
  c.start();
  c.node.advance_by(1s);
  caf::anon_send_exit(c.session, caf::exit_reason::kill);
  c.node.run();
  CHECK(c.node.system().registry().running() == before);
}

SCENARIO("a backlog does not grow the queue beyond its bounds", "[session]") {
  consuming c;
  c.group->produce(100'000);
  c.script->takes = 1ms;
  c.spec.options.message_concurrency = 3;

  WHEN("messages are small") {
    c.start();
    std::size_t most = 0;
    for (int i = 0; i < 50; ++i) {
      c.node.advance_by(20ms);
      most = std::max(most, c.state().queue.held());
    }
    CHECK(c.script->started.size() > 2000);
    CHECK(most > 200);
    CHECK(most <= 2003);
    CHECK(c.group->leases.size() < 20);
  }
  WHEN("the queue's size is given") {
    c.spec.options.queue_size = 50;
    c.spec.options.batch_limit = 20;
    c.start();
    std::size_t most = 0;
    for (int i = 0; i < 50; ++i) {
      c.node.advance_by(20ms);
      most = std::max(most, c.state().queue.held());
    }
    CHECK(most <= 53);
    CHECK(c.group->largest_limit == 20);
  }
}

SCENARIO("a slow handler's messages go back before their lease ends",
         "[session]") {
  consuming c;
  c.spec.options.batch_limit = 10;
  c.group->produce(10);
  c.script->takes = 5s;
  c.start();
  c.node.advance_by(100s);
  CHECK(c.group->committed() == 10);
  CHECK(c.sorted_starts() == first_ids(10)); // no message ran twice
  CHECK(c.events.count(code::lease_too_short) >= 1);
  CHECK(c.events.count(code::range_reclaimed) == 0);
}

SCENARIO("a session for so many messages handles so many", "[session]") {
  consuming c;
  c.group->produce(50);
  c.spec.max_messages = 7;

  WHEN("all go well") {
    c.start();
    c.node.advance_by(1s);
    THEN("it ends by itself and has claimed no more") {
      CHECK(c.has_ended());
      CHECK(c.script->started == first_ids(7));
      CHECK(c.group->claimed == 7);
      CHECK(c.group->committed() == 7);
      REQUIRE(c.ended->size() == 1);
      CHECK(c.ended->at(0).code == 0);
    }
  }
  WHEN("an expired range holds more") {
    c.group->claimed = 20;
    c.group->leases["gone"] = {{0, 20}, "b", {}, 0, false};
    c.start();
    c.node.advance_by(1s);
    THEN("the rest is given back") {
      CHECK(c.has_ended());
      CHECK(c.script->started == first_ids(7));
      CHECK(c.group->committed() == 7);
      CHECK(c.group->leases.begin()->second.surrendered);
    }
  }
  WHEN("failures are among them") {
    c.script->handler = [](const run_item&) {
      return retry("no");
    };
    c.start();
    c.node.advance_by(1s);
    THEN("they count: they are recorded") {
      CHECK(c.has_ended());
      CHECK(c.script->started.size() == 7);
      CHECK(c.group->exceptions.size() == 7);
    }
  }
  WHEN("there are fewer") {
    c.group->log.resize(3);
    c.start();
    c.node.advance_by(10s);
    CHECK_FALSE(c.has_ended());
    c.group->produce(10);
    c.node.advance_by(1s);
    THEN("it waits for the others") {
      CHECK(c.has_ended());
      CHECK(c.group->claimed == 7);
    }
  }
}

SCENARIO("a paused group claims nothing until it is resumed", "[session]") {
  consuming c;
  c.group->group.config.paused = true;
  c.group->produce(5);
  c.group->claimed = 2;
  c.group->leases["gone"] = {{0, 2}, "b", {}, 0, false};
  c.start();
  c.node.advance_by(5s);
  CHECK(c.script->started.empty());
  c.group->group.config.paused = false;
  c.node.advance_by(2s);
  CHECK(c.sorted_starts() == first_ids(5));
}

SCENARIO("what a session cannot do ends it with its code", "[session]") {
  consuming c;
  c.group->produce(5);
  std::optional<code> expected;

  WHEN("claims fail for good") {
    c.group->claim_error = error{code::group_not_found, "group billing"};
    c.start();
    expected = code::group_not_found;
  }
  WHEN("the group is removed") {
    c.start();
    c.group->group_exists = false;
    c.node.advance_by(40s);
    expected = code::group_not_found;
  }
  WHEN("a message needs its key to be free") {
    message keyed;
    keyed.message_key = "k";
    keyed.options.concurrency = concurrency::ordered;
    c.group->produce(3, keyed);
    c.start();
    c.node.advance_by(1s);
    expected = code::keyed_policy_unsupported;
    CHECK(c.group->leases.size() == 1); // given back, not lost
    CHECK(c.group->leases.begin()->second.surrendered);
    CHECK(c.script->started.size() <= 5);
  }
  WHEN("the group turns to a keyed policy") {
    c.start();
    c.group->group.config.concurrency_override = concurrency::exclusive;
    c.node.advance_by(40s);
    expected = code::keyed_policy_unsupported;
  }
  REQUIRE(expected);
  c.node.advance_by(1s);
  CHECK(c.has_ended());
  REQUIRE(c.ended->size() == 1);
  CHECK(c.ended->at(0).code == static_cast<std::uint16_t>(*expected));
  CHECK_FALSE(c.ended->at(0).reason.empty());
}

SCENARIO("claims that fail for now are tried at the next poll", "[session]") {
  consuming c;
  c.group->produce(5);
  c.group->claim_error = error{code::database_unreachable};
  c.start();
  c.node.advance_by(10s);
  CHECK_FALSE(c.has_ended());
  CHECK(c.events.count(code::claim_failed) == 1);
  c.group->claim_error.reset();
  c.node.advance_by(1s);
  CHECK(c.group->committed() == 5);
}

SCENARIO("new settings of the group apply to what is claimed next",
         "[session]") {
  consuming c;
  std::vector<std::chrono::nanoseconds> timeouts;
  c.script->handler = [&](const run_item& item) {
    timeouts.push_back(item.options.timeout);
    return done();
  };
  c.group->produce(1);
  c.start();
  c.group->group.config.message.timeout = 10s;
  c.node.advance_by(40s);
  c.group->produce(1);
  c.node.advance_by(1s);
  CHECK(timeouts == std::vector<std::chrono::nanoseconds>{30s, 10s});
}

TEST_CASE("what cannot be consumed is refused at once", "[session]") {
  consuming c;
  auto spec = c.spec;
  const auto refused = [&](code number) {
    try {
      checked_spec(spec);
    } catch (const error& e) {
      return e.number() == number;
    }
    return false;
  };
  SECTION("a keyed policy") {
    spec.group.config.message.concurrency = concurrency::ordered;
    CHECK(refused(code::keyed_policy_unsupported));
  }
  SECTION("an option out of its range") {
    spec.options.message_concurrency = -1;
    CHECK(refused(code::invalid_option));
  }
  SECTION("a schema version below 1") {
    spec.schema_version = 0;
    CHECK(refused(code::invalid_schema_version));
  }
  SECTION("no handler") {
    spec.handler = message_handler{};
    CHECK(refused(code::invalid_option));
  }
}

SCENARIO("exceptions are claimed for free slots only", "[session]") {
  consuming c;
  c.spec.options.exception_concurrency = 2;
  c.group->produce(10);
  c.group->claimed = 10;
  for (message_id id = 1; id <= 10; ++id)
    c.group->exceptions[id].attempts = 1;
  c.script->takes = 1s;
  c.start();
  c.node.advance_by(500ms);
  const auto inflight =
    std::count_if(c.group->exceptions.begin(), c.group->exceptions.end(),
                  [](const auto& item) {
                    return item.second.status == exception_status::inflight;
                  });
  CHECK(inflight == 2);
  CHECK(c.script->started == std::vector<message_id>{1, 2});
  c.node.advance_by(5s);
  CHECK(c.group->exceptions.empty());
  CHECK(c.script->most_running == 2);
  CHECK(c.sorted_starts() == first_ids(10));
}
