// Transactions moved by hand, step by step: whatever their order, a claim never
// passes an id that can still commit (design page 02).

#include "apps/dev_server/private_server.hpp"
#include "config/error.hpp"
#include "tests/storage/postgres_installation.hpp"
#include "tests/support/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <pqxx/except>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

using ids = std::vector<message_id>;

constexpr const char* produce_one =
  "SELECT {schema}.produce('orders', '{\"by\": \"hand\"}')";
constexpr const char* insert_one =
  "INSERT INTO {schema}.message_log_{stream} (payload) VALUES ('{}')"
  " RETURNING id";

} // namespace

SCENARIO("a later id that commits first waits for the earlier one",
         "[store][interleaving]") {
  GIVEN("transaction A with id 1, open, and B with id 2, committed") {
    const postgres_installation system;
    auto a = system.connect();
    a("BEGIN");
    a("SET LOCAL application_name = 'slow producer'");
    REQUIRE(a.ask(produce_one) == "1");
    REQUIRE(system.produce(1) == ids{2});

    WHEN("the group claims") {
      const auto first = system.claim();
      THEN("nothing is claimed, and the answer says who is waited for") {
        CHECK_FALSE(first.claimed);
        REQUIRE(first.hold);
        CHECK(first.hold->missing == 1);
        CHECK(first.hold->pid == a.backend());
        CHECK(first.hold->application == "slow producer");
        CHECK(first.hold->age.count() > 0);
        CHECK_FALSE(system.claim().claimed);
      }
      AND_WHEN("A commits") {
        a("COMMIT");
        THEN("both are claimed in order") {
          CHECK(system.claim_ids() == ids{1, 2});
        }
      }
      AND_WHEN("A rolls back") {
        a("ROLLBACK");
        THEN("the other passes, and the claim after it finds nothing") {
          CHECK(system.claim_ids() == ids{2});
          CHECK_FALSE(system.claim().hold);
        }
      }
      AND_WHEN("A commits only after others have come and gone") {
        auto c = system.connect();
        c("BEGIN");
        REQUIRE(c.ask(produce_one) == "3");
        REQUIRE(system.produce(1) == ids{4});
        CHECK_FALSE(system.claim().claimed);
        a("COMMIT");
        THEN("the run before the next gap comes first") {
          CHECK(system.claim_ids() == ids{1, 2});
          CHECK(system.claim().hold->missing == 3);
          c("COMMIT");
          CHECK(system.claim_ids() == ids{3, 4});
        }
      }
    }
  }
}

SCENARIO("plain INSERTs are as safe as produce", "[store][interleaving]") {
  const postgres_installation system;
  auto a = system.connect();
  a("BEGIN");
  REQUIRE(a.ask(insert_one) == "1");
  auto b = system.connect();
  REQUIRE(b.ask(insert_one) == "2");
  CHECK_FALSE(system.claim().claimed);
  a("COMMIT");
  CHECK(system.claim_ids() == ids{1, 2});
}

SCENARIO("rolling back to a savepoint does not leave later ids unguarded",
         "[store][interleaving]") {
  const postgres_installation system;
  auto a = system.connect();
  a("BEGIN");
  a("SAVEPOINT s");
  REQUIRE(a.ask(produce_one) == "1");
  a("ROLLBACK TO s"); // gives up the lock as well
  REQUIRE(a.ask(produce_one) == "2");
  REQUIRE(system.produce(1) == ids{3});
  CHECK_FALSE(system.claim().claimed);
  a("COMMIT");
  CHECK(system.claim_ids() == ids{2, 3});
}

SCENARIO("prepared transactions are waited for", "[store][interleaving]") {
  GIVEN("a transaction with id 1 and a committed id 2") {
    const postgres_installation system;
    const auto name = "'" + system.schema() + "'";
    auto a = system.connect();
    a("BEGIN");
    REQUIRE(a.ask(produce_one) == "1");
    REQUIRE(system.produce(1) == ids{2});

    WHEN("it is prepared before the first claim") {
      a("PREPARE TRANSACTION " + name);
      const auto result = system.claim();
      CHECK_FALSE(result.claimed);
      CHECK(result.hold->pid == 0);
      a("COMMIT PREPARED " + name);
      THEN("both are claimed after its end") {
        CHECK(system.claim_ids() == ids{1, 2});
      }
    }
    WHEN("it is prepared between two claims") {
      CHECK_FALSE(system.claim().claimed);
      a("PREPARE TRANSACTION " + name);
      CHECK_FALSE(system.claim().claimed);
      CHECK_FALSE(system.claim().claimed);
      a("ROLLBACK PREPARED " + name);
      THEN("the rest is claimed after its end") {
        CHECK(system.claim_ids() == ids{2});
      }
    }
  }
}

SCENARIO("a transaction open elsewhere delays nothing",
         "[store][interleaving]") {
  const postgres_installation system;
  auto foreign = system.connect();
  foreign("CREATE TABLE {schema}.elsewhere (n int)");
  foreign("BEGIN ISOLATION LEVEL REPEATABLE READ");
  foreign("INSERT INTO {schema}.elsewhere VALUES (1)");
  auto rolled_back = system.connect();
  rolled_back("BEGIN");
  rolled_back(produce_one);
  rolled_back("ROLLBACK");
  REQUIRE(system.produce(3) == ids{2, 3, 4});
  CHECK(system.claim_ids() == ids{2, 3, 4});
}

SCENARIO("ids that were drawn for duplicates hold nothing up",
         "[store][interleaving]") {
  const postgres_installation system;
  const new_message keyed{.payload = "1", .idempotency_key = "once"};
  for (int i = 0; i < 3; ++i)
    system.session->produce(system.stream.id, {keyed});
  const auto last = system.produce(1);
  CHECK(system.claim_ids() == ids{1, last.front()});
}

SCENARIO("a hole of a million ids is passed in one step",
         "[store][interleaving]") {
  const postgres_installation system;
  system.produce(2);
  auto by_hand = system.connect();
  by_hand("SELECT setval('{schema}.message_log_{stream}_id_seq', 1500000)");
  const auto far = system.produce(1).front(); // its partition was missing
  REQUIRE(far > 1500000);
  const auto result = system.claim();
  REQUIRE(result.claimed);
  CHECK(result.claimed->messages.size() == 3);
  CHECK(result.claimed->range == id_range{0, far});
  CHECK_FALSE(result.more);
}

SCENARIO("what retention has dropped is passed and named",
         "[store][interleaving]") {
  const postgres_installation system{{.partition_size = 4}};
  for (int i = 0; i < 3; ++i)
    system.produce(4);
  auto by_hand = system.connect();
  by_hand("DROP TABLE {schema}.message_log_{stream}_p0");
  const auto result = system.claim();
  REQUIRE(result.claimed);
  CHECK(result.claimed->messages.front().id == 5);
  CHECK(result.behind_retention == id_range{0, 4});
  CHECK_FALSE(system.claim().behind_retention);
  AND_THEN("a group that begins now begins at the oldest message") {
    const auto late = system.session->register_group(
      {.stream = system.stream.id, .name = "late"});
    CHECK(system.session->lag(system.stream.id, late.group.id).claimed == 4);
  }
}

SCENARIO("idle claims cost no transaction id", "[store][interleaving]") {
  const postgres_installation system;
  system.produce(2);
  REQUIRE(system.claim_ids().size() == 2);
  auto by_hand = system.connect();
  by_hand("BEGIN");
  const std::string claim = "SELECT {schema}.claim_{stream}("
                            + std::to_string(system.group.id)
                            + ", 1, 100, 0, '1 min', 'test')";
  by_hand(claim);
  CHECK(by_hand.ask("SELECT pg_current_xact_id_if_assigned() IS NULL") == "t");

  AND_THEN("neither does waiting for a gap that is known already") {
    auto a = system.connect();
    a("BEGIN");
    a(produce_one);
    system.produce(1);
    REQUIRE(system.claim().hold);
    by_hand(claim);
    CHECK(by_hand.ask("SELECT pg_current_xact_id_if_assigned() IS NULL")
          == "t");
  }
}

SCENARIO("the proof is refused where statements share a snapshot",
         "[store][interleaving]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  by_hand("BEGIN ISOLATION LEVEL REPEATABLE READ");
  CHECK_THROWS_AS(by_hand("SELECT {schema}.claim_{stream}("
                          + std::to_string(system.group.id)
                          + ", 1, 100, 0, '1 min', 'test')"),
                  pqxx::sql_error);
}

SCENARIO("a stricter default isolation level changes nothing",
         "[store][interleaving]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  // As a role's or database's default would.
  auto strict = system.open(
    database_url() + (database_url().find('?') == std::string::npos ? "?" : "&")
    + "options=-c%20default_transaction_isolation%3Dserializable");
  auto a = system.connect();
  a("BEGIN");
  REQUIRE(a.ask(produce_one) == "1");
  REQUIRE(ids_of(strict->produce(system.stream.id, numbered_messages(2)))
          == ids{2, 3});
  CHECK_FALSE(system.claim(*strict).claimed);
  a("COMMIT");
  const auto result = system.claim(*strict);
  REQUIRE(result.claimed);
  CHECK(result.claimed->messages.size() == 3);
  const auto settled = strict->settle(
    {.stream = system.stream.id,
     .group = system.group.id,
     .ranges = {{.token = result.claimed->token, .resolved_to = 3}}});
  CHECK(settled.committed == 3);
}

SCENARIO("after a crash the sequence jumps and no message is lost",
         "[store][interleaving]") {
  scratch_folder folder;
  private_server server{{.folder = folder.path() / "pg"}};
  server.start();
  {
    const postgres_installation system{{}, server.url()};
    REQUIRE(system.produce(3) == ids{1, 2, 3});
    {
      auto a = system.connect();
      a("BEGIN");
      a(produce_one);
      CHECK(system.claim_ids() == ids{1, 2, 3});
      // The address is given: the port stays.
      server.restart(stop_mode::immediate);
    }
    std::vector<produced> after;
    while (after.empty()) {
      try {
        after = system.session->produce(system.stream.id, numbered_messages(1));
      } catch (const sqlstreams::error& e) {
        REQUIRE(e.recover() != recovery::permanent);
      }
    }
    CHECK(after.front().id > 4);
    // The crash may have undone the claim as well: then all come again.
    CHECK(system.claim_ids().back() == after.back().id);
  }
  server.destroy();
}
