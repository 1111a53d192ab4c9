#include "actors/log.hpp"
#include "actors/messages.hpp"
#include "storage/refused_message.hpp"
#include "tests/support/test_node.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

stream_info orders() {
  stream_info info;
  info.id = 1;
  info.name = "orders";
  info.config.max_payload_bytes = 100;
  return info;
}

produce_messages one(std::string payload = "{}") {
  produce_messages request;
  request.messages.push_back({std::move(payload)});
  return request;
}

/// A producer over a storage that answers when the test says so.
struct producer_fixture {
  explicit producer_fixture(producer_config config = {}) {
    if (config.batch.concurrency_limit == 0)
      config.batch.concurrency_limit = 1;
    producer = nodes.own(
      spawn_producer(nodes.system(), storage.handle(), orders(), config));
    redirect_log(
      [this](const log_line& line) { lines.push_back(line.number); });
  }
  ~producer_fixture() { redirect_log({}); }

  auto produce(produce_messages request = one()) {
    return nodes.ask<produce_reply>(producer, std::move(request));
  }

  /// The number of messages in each transaction so far.
  std::vector<std::size_t> transactions() const {
    std::vector<std::size_t> sizes;
    for (const auto& request : storage.requests())
      sizes.push_back(request.messages->size());
    return sizes;
  }

  /// Commits a transaction; its messages get ids from 100 x its number on.
  void commit(std::size_t index) {
    produce_reply reply;
    const auto size = storage.requests().at(index).messages->size();
    for (std::size_t i = 0; i < size; ++i)
      reply.messages.push_back({static_cast<message_id>(100 * index + i)});
    storage.answer(index, std::move(reply));
    nodes.run();
  }
  template <class Error>
  void fail(std::size_t index, const Error& e) {
    storage.fail(index, e);
    nodes.run();
  }
  void end_producer() {
    caf::anon_send_exit(producer, caf::exit_reason::user_shutdown);
    nodes.run();
  }

  std::vector<code> lines;
  test_system nodes;
  scripted_actor<produce_request> storage{nodes};
  caf::actor producer;
};

using sizes = std::vector<std::size_t>;

const error refusal{code::database_error, recovery::permanent, "refused"};

} // namespace

SCENARIO("produce calls share transactions, each gets its own answer",
         "[producer]") {
  GIVEN("a producer whose only transaction is in flight") {
    producer_fixture fixture;
    const auto first = fixture.produce();
    REQUIRE(fixture.transactions() == sizes{1});
    const auto second = fixture.produce();
    auto two = one();
    two.messages.push_back({"2"});
    const auto third = fixture.produce(two);

    WHEN("it is committed") {
      fixture.commit(0);
      CHECK(first->reply->messages == std::vector<produced>{{0}});
      THEN("the next takes all that waited") {
        REQUIRE(fixture.transactions() == sizes{1, 3});
        fixture.commit(1);
        CHECK(second->reply->messages == std::vector<produced>{{100}});
        CHECK(third->reply->messages == std::vector<produced>{{101}, {102}});
      }
    }
  }
  GIVEN("a call without messages") {
    producer_fixture fixture;
    auto nothing = one();
    nothing.messages.clear();
    THEN("it is answered without a transaction") {
      CHECK(fixture.produce(nothing)->reply->messages.empty());
      CHECK(fixture.transactions().empty());
    }
  }
}

SCENARIO("a bad message fails its own call only", "[producer]") {
  producer_fixture fixture;
  const auto busy = fixture.produce();
  const auto good = fixture.produce();
  const auto bad = fixture.produce(one("{"));
  const auto large = fixture.produce(one(std::string(101, '1')));
  auto batch = one();
  batch.whole = true;
  batch.messages.push_back({"nonsense"});
  const auto whole = fixture.produce(batch);

  CHECK(bad->failure->number() == code::payload_not_json);
  CHECK(large->failure->number() == code::payload_too_large);
  REQUIRE(whole->failure);
  CHECK(whole->failure->number() == code::payload_not_json);
  CHECK_THAT(whole->failure->detail(), Catch::StartsWith("message 2 of 2: "));
  fixture.commit(0);
  fixture.commit(1);
  CHECK(good->reply);
  CHECK(fixture.transactions() == sizes{1, 1});
}

SCENARIO("the producer's defaults are stored with its messages", "[producer]") {
  producer_config config;
  config.message.timeout = 7s;
  producer_fixture fixture{config};
  auto own = one();
  own.messages.front().options.timeout = 3s;
  fixture.produce();
  fixture.commit(0);
  fixture.produce(own);
  CHECK(fixture.storage.requests()[0].messages->front().options.timeout == 7s);
  CHECK(fixture.storage.requests()[1].messages->front().options.timeout == 3s);
}

SCENARIO("a failed transaction is answered to whom it concerns", "[producer]") {
  GIVEN("a transaction of three calls") {
    producer_fixture fixture;
    fixture.produce();
    const auto first = fixture.produce();
    const auto second = fixture.produce();
    const auto third = fixture.produce();
    fixture.commit(0);
    REQUIRE(fixture.transactions() == sizes{1, 3});

    WHEN("nobody knows whether it was committed") {
      fixture.fail(1, error{code::commit_confirmation_lost});
      THEN("all hear exactly that") {
        for (const auto& call : {first, second, third}) {
          REQUIRE(call->failure);
          CHECK(call->failure->recover() == recovery::unknown);
        }
        CHECK(fixture.transactions().size() == 2);
      }
    }
    WHEN("the server refuses the second message") {
      fixture.fail(1, refused_message{1, refusal});
      THEN("the others run again") {
        REQUIRE(second->failure);
        CHECK(second->failure->detail() == "refused");
        REQUIRE(fixture.transactions() == sizes{1, 3, 2});
        fixture.commit(2);
        CHECK(first->reply->messages == std::vector<produced>{{200}});
        CHECK(third->reply->messages == std::vector<produced>{{201}});
      }
    }
    WHEN("the server refuses without saying which") {
      fixture.fail(1, refusal);
      REQUIRE(fixture.transactions() == sizes{1, 3, 1});
      fixture.commit(2);
      REQUIRE(fixture.transactions() == sizes{1, 3, 1, 2});
      fixture.fail(3, refusal);
      fixture.fail(4, refusal);
      fixture.commit(5);
      THEN("the fault is found") {
        CHECK(first->reply);
        CHECK(second->failure);
        CHECK(third->reply);
      }
    }
    WHEN("storage answers for another number of messages") {
      fixture.storage.answer(1, produce_reply{{{1}}});
      fixture.nodes.run();
      THEN("nobody is told an id that may be another's") {
        CHECK(first->failure->recover() == recovery::unknown);
        CHECK(third->failure);
      }
    }
    WHEN("storage does not answer at all") {
      fixture.nodes.advance_by(1h);
      THEN("the callers hear that nobody knows") {
        REQUIRE(first->failure);
        CHECK(first->failure->number() == code::no_answer);
        CHECK(first->failure->recover() == recovery::unknown);
      }
      THEN("a late answer is nobody's, and the producer goes on") {
        fixture.commit(1);
        const auto next = fixture.produce();
        REQUIRE(fixture.transactions().size() == 3);
        fixture.commit(2);
        CHECK(next->reply);
      }
    }
    WHEN("storage dies") {
      caf::anon_send_exit(fixture.storage.handle(), caf::exit_reason::kill);
      fixture.nodes.run();
      THEN("later calls fail at once") {
        CHECK(fixture.produce()->open());
        fixture.nodes.advance_by(1h);
        CHECK(fixture.produce()->failure->number() == code::actor_failed);
      }
    }
  }
}

SCENARIO("what may have been stored is not produced again", "[producer]") {
  GIVEN("two calls in one transaction, a third with two messages") {
    producer_fixture fixture;
    fixture.produce();
    const auto first = fixture.produce();
    const auto second = fixture.produce();
    auto two = one();
    two.messages.push_back({"2"});
    const auto third = fixture.produce(two);
    fixture.commit(0);
    REQUIRE(fixture.transactions() == sizes{1, 4});

    WHEN("storage fails in a way that nobody expected") {
      fixture.fail(1, error{code::actor_failed, "an odd exception"});
      THEN("it is not tried again in parts, and all hear that nobody knows") {
        CHECK(fixture.transactions() == sizes{1, 4});
        for (const auto& asked : {first, second, third}) {
          REQUIRE(asked->failure);
          CHECK(asked->failure->number() == code::actor_failed);
          CHECK(asked->failure->recover() == recovery::unknown);
        }
      }
    }
    WHEN("the server refuses the last message") {
      fixture.fail(1, refused_message{3, refusal});
      THEN("its producer hears which of its own it was") {
        REQUIRE(third->failure);
        CHECK(third->failure->detail() == "message 2 of 2: refused");
      }
    }
    WHEN("the server refuses the message of a single one") {
      fixture.fail(1, refused_message{1, refusal});
      THEN("its producer hears of no others") {
        REQUIRE(second->failure);
        CHECK(second->failure->detail() == "refused");
      }
    }
  }
}

SCENARIO("too many waiting calls are refused", "[producer]") {
  producer_config config;
  config.max_waiting = 1;
  producer_fixture fixture{config};
  fixture.produce();
  const auto waiting = fixture.produce();
  const auto refused = fixture.produce();
  CHECK(waiting->open());
  REQUIRE(refused->failure);
  CHECK(refused->failure->number() == code::overloaded);
}

SCENARIO("a slow transaction is reported", "[producer]") {
  producer_config config;
  config.slow_produce_threshold = 1s;
  producer_fixture fixture{config};
  fixture.produce();
  fixture.nodes.advance_by(500ms);
  fixture.commit(0);
  CHECK(fixture.lines.empty());
  fixture.produce();
  fixture.nodes.advance_by(1500ms);
  fixture.commit(1);
  CHECK(fixture.lines == std::vector{code::slow_produce});
}

SCENARIO("a producer that ends answers everybody", "[producer]") {
  GIVEN("a call in flight and one that waits") {
    producer_config config;
    config.batch.shutdown_grace = 15s;
    WHEN("it is told to end") {
      producer_fixture fixture{config};
      const auto in_flight = fixture.produce();
      const auto waiting = fixture.produce();
      fixture.end_producer();
      CHECK(waiting->failure->number() == code::shutting_down);
      CHECK(in_flight->open());
      CHECK(fixture.produce()->failure->number() == code::shutting_down);

      THEN("it waits for the database") {
        fixture.commit(0);
        CHECK(in_flight->reply);
        CHECK(test_system::ended(fixture.producer));
      }
      THEN("but not longer than its grace") {
        fixture.nodes.advance_by(15s);
        REQUIRE(in_flight->failure);
        CHECK(in_flight->failure->number() == code::no_answer);
        CHECK(in_flight->failure->recover() == recovery::unknown);
        CHECK(test_system::ended(fixture.producer));
      }
    }
    WHEN("its grace is negative") {
      config.batch.shutdown_grace = -1s;
      producer_fixture fixture{config};
      const auto in_flight = fixture.produce();
      fixture.end_producer();
      THEN("it does not wait") {
        CHECK(in_flight->failure->recover() == recovery::unknown);
        CHECK(test_system::ended(fixture.producer));
      }
    }
    WHEN("it is killed") {
      producer_fixture fixture{config};
      const auto in_flight = fixture.produce();
      const auto waiting = fixture.produce();
      caf::anon_send_exit(fixture.producer, caf::exit_reason::kill);
      fixture.nodes.run();
      THEN("nobody is left without an answer") {
        CHECK(in_flight->failure->number() == code::actor_failed);
        CHECK(waiting->failure->number() == code::actor_failed);
      }
    }
  }
}

SCENARIO("a producer with impossible settings is refused", "[producer]") {
  test_system nodes;
  producer_config config;
  config.batch.max_size = -1;
  CHECK_THROWS_WITH(
    spawn_producer(nodes.system(), caf::actor{}, orders(), config),
    Catch::Contains("batch.max_size"));
}
