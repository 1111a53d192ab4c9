#include "actors/batcher.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace sqlstreams;

namespace {

produce_call call(std::uint64_t number, std::size_t messages = 1,
                  std::size_t bytes = 10) {
  produce_call made{number, {}};
  for (std::size_t i = 0; i < messages; ++i) {
    new_message message{std::string(bytes, '1')};
    message.routing_key = std::to_string(number) + "." + std::to_string(i);
    made.messages.push_back(message);
  }
  return made;
}

produce_call alone(std::uint64_t number, std::size_t messages) {
  auto made = call(number, messages);
  made.alone = true;
  return made;
}

using numbers = std::vector<std::uint64_t>;

numbers calls_in(const std::optional<produce_batch>& batch) {
  numbers calls;
  if (batch)
    for (const auto& part : batch->parts)
      calls.push_back(part.call);
  return calls;
}

/// What the server says of a statement that it refuses.
const error refusal{code::database_error, "no"};

/// A batcher whose only transaction is in flight, so that calls gather.
struct busy_batcher {
  explicit busy_batcher(batcher_limits limits = {})
    : batches{[&] {
        limits.transactions = 1;
        return limits;
      }()} {
    batches.add(call(1000));
    batches.next();
  }

  std::optional<produce_batch> next_when_free() {
    batches.succeeded();
    return batches.next();
  }

  batcher batches;
};

} // namespace

SCENARIO("an idle producer sends at once, a busy one gathers", "[produce]") {
  GIVEN("a batcher for two transactions at once") {
    batcher batches{{.transactions = 2}};

    WHEN("calls come one by one") {
      REQUIRE(batches.add(call(1)));
      const auto first = batches.next();
      REQUIRE(batches.add(call(2)));
      const auto second = batches.next();
      THEN("the first two go each in a transaction of their own") {
        CHECK(calls_in(first) == numbers{1});
        CHECK(calls_in(second) == numbers{2});
        CHECK(batches.in_flight() == 2);
      }

      AND_WHEN("three more come while both are in flight") {
        for (std::uint64_t number : {3, 4, 5})
          REQUIRE(batches.add(call(number)));
        REQUIRE_FALSE(batches.next());
        THEN("they share the next one, in the order they came") {
          batches.succeeded();
          const auto third = batches.next();
          CHECK(calls_in(third) == numbers{3, 4, 5});
          CHECK(third->messages->at(1).routing_key == "4.0");
          CHECK(batches.waiting() == 0);
        }
      }
    }
  }
}

SCENARIO("a gathered transaction has bounds", "[produce]") {
  GIVEN("at most three messages") {
    busy_batcher busy{{.max_size = 3}};
    for (std::uint64_t number : {1, 2, 3, 4})
      busy.batches.add(call(number));
    THEN("the fourth waits for the next transaction") {
      CHECK(calls_in(busy.next_when_free()) == numbers{1, 2, 3});
      CHECK(calls_in(busy.next_when_free()) == numbers{4});
    }
  }
  GIVEN("at most a hundred bytes") {
    busy_batcher busy{{.max_bytes = 100}};
    busy.batches.add(call(1, 1, 60));
    busy.batches.add(call(2, 1, 60));
    THEN("what does not fit waits") {
      CHECK(calls_in(busy.next_when_free()) == numbers{1});
      CHECK(calls_in(busy.next_when_free()) == numbers{2});
    }
  }
  GIVEN("a call that is larger than any transaction may be") {
    busy_batcher busy{{.max_size = 3}};
    busy.batches.add(call(1));
    busy.batches.add(call(2, 10));
    THEN("it goes whole, by itself") {
      CHECK(calls_in(busy.next_when_free()) == numbers{1});
      const auto large = busy.next_when_free();
      CHECK(calls_in(large) == numbers{2});
      CHECK(large->messages->size() == 10);
    }
  }
}

SCENARIO("a batch that its caller made shares its transaction with nobody",
         "[produce]") {
  busy_batcher busy;
  busy.batches.add(call(1));
  busy.batches.add(alone(2, 2));
  busy.batches.add(call(3));
  CHECK(calls_in(busy.next_when_free()) == numbers{1});
  CHECK(calls_in(busy.next_when_free()) == numbers{2});
  CHECK(calls_in(busy.next_when_free()) == numbers{3});
}

SCENARIO("no more calls wait than are allowed", "[produce]") {
  busy_batcher busy{{.max_waiting = 2}};
  CHECK(busy.batches.add(call(1)));
  CHECK(busy.batches.add(call(2)));
  auto refused = call(3);
  CHECK_FALSE(busy.batches.add(std::move(refused)));
  CHECK(refused.messages.size() == 1);
}

SCENARIO("a failed transaction fails only those who are at fault",
         "[produce]") {
  GIVEN("a transaction of four calls, of which the second has two messages") {
    busy_batcher busy;
    for (std::uint64_t number : {1, 2, 3, 4})
      busy.batches.add(call(number, number == 2 ? 2 : 1));
    auto& batches = busy.batches;
    const auto batch = busy.next_when_free();
    REQUIRE(calls_in(batch) == numbers{1, 2, 3, 4});

    WHEN("it failed for a while, nobody knows, or it is no one's fault") {
      const auto failure = GENERATE(values<error>(
        {error{code::database_interrupted},
         error{code::commit_confirmation_lost}, error{code::actor_failed},
         error{code::actor_failed, recovery::unknown, ""},
         error{code::database_error, recovery::unknown, ""},
         error{code::database_error, recovery::transient, ""},
         error{code::stream_not_found}, error{code::permission_denied},
         error{code::shutting_down}}));
      INFO(failure.what());
      THEN("the failure is everybody's") {
        CHECK(batches.failed(*batch, failure, {}) == numbers{1, 2, 3, 4});
        CHECK_FALSE(batches.next());
        CHECK(batches.in_flight() == 0);
      }
    }

    WHEN("the server names the third message") {
      CHECK(batches.failed(*batch, refusal, 2) == numbers{2});
      THEN("the other calls run again, with their messages") {
        const auto rest = batches.next();
        CHECK(calls_in(rest) == numbers{1, 3, 4});
        REQUIRE(rest->messages->size() == 3);
        CHECK(rest->messages->at(1).routing_key == "3.0");
      }
      AND_WHEN("another call came meanwhile") {
        batches.add(call(5));
        THEN("it goes after them") {
          CHECK(calls_in(batches.next()) == numbers{1, 3, 4});
          CHECK(calls_in(busy.next_when_free()) == numbers{5});
        }
      }
    }

    WHEN("the server names nobody") {
      REQUIRE(batches.failed(*batch, refusal, {}).empty());
      THEN("the calls run in halves until the fault is found") {
        const auto first_half = batches.next();
        CHECK(calls_in(first_half) == numbers{1, 2});
        CHECK(batches.failed(*first_half, refusal, {}).empty());
        const auto one = batches.next();
        CHECK(calls_in(one) == numbers{1});
        batches.succeeded();
        const auto two = batches.next();
        CHECK(calls_in(two) == numbers{2});
        CHECK(batches.failed(*two, refusal, {}) == numbers{2});
        CHECK(calls_in(batches.next()) == numbers{3, 4});
      }
    }

    WHEN("the server names a message that is not there") {
      THEN("that helps nobody: halves") {
        CHECK(batches.failed(*batch, refusal, 99).empty());
        CHECK(calls_in(batches.next()) == numbers{1, 2});
      }
    }

    WHEN("it failed and everything is dropped") {
      batches.add(call(5));
      REQUIRE(batches.failed(*batch, refusal, 0) == numbers{1});
      THEN("nobody is forgotten") {
        CHECK(batches.drop_waiting() == numbers{2, 3, 4, 5});
        CHECK(batches.waiting() == 0);
        CHECK_FALSE(batches.next());
      }
    }
  }
}
