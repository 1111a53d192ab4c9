// What PostgreSQL adds to producing: round trips, lost replies, partitions,
// keys that race.

#include "config/error.hpp"
#include "storage/postgres/produce_in_tx.hpp"
#include "storage/refused_message.hpp"
#include "tests/storage/postgres_installation.hpp"
#include "tests/support/tcp_proxy.hpp"

#include <catch2/catch.hpp>

#include <pqxx/connection>
#include <pqxx/except>
#include <pqxx/transaction>

#include <latch>
#include <mutex>
#include <set>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

new_message keyed(std::string key, std::string payload = "1") {
  return {.payload = std::move(payload), .idempotency_key = std::move(key)};
}

/// Runs in many threads at once.
template <class Work>
void in_threads(int count, Work work) {
  std::latch start{count};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      start.arrive_and_wait();
      work(i);
    });
  }
  for (auto& thread : threads)
    thread.join();
}

std::string count_messages(hand& by_hand) {
  return by_hand.ask("SELECT count(*) FROM {schema}.message_log_{stream}");
}

std::string partitions(hand& by_hand) {
  return by_hand.ask(
    "SELECT string_agg(substring(c.relname FROM '_p[0-9]+$'), '' ORDER BY "
    "c.oid)"
    " FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid"
    " WHERE i.inhparent = '{schema}.message_log_{stream}'::regclass");
}

} // namespace

SCENARIO("each step costs few round trips, whatever its size",
         "[store][round trips]") {
  const postgres_installation system;
  tcp_proxy proxy{database_url()};
  const auto session = system.open(proxy.url());
  const auto trips = [&](auto work) {
    const auto before = proxy.round_trips();
    work();
    return proxy.round_trips() - before;
  };
  // Connects, and learns the size of a partition.
  session->produce(system.stream.id, numbered_messages(1));
  REQUIRE(system.claim().claimed);

  CHECK(trips([&] { session->produce(system.stream.id, numbered_messages(1)); })
        == 4);
  CHECK(
    trips([&] { session->produce(system.stream.id, numbered_messages(2000)); })
    == 4);
  CHECK(trips([&] {
          session->produce(system.stream.id, {keyed("a"), keyed("b")});
        })
        == 3);
  claim_result claimed;
  CHECK(trips([&] { claimed = system.claim(*session, 1000); }) == 1);
  REQUIRE(claimed.claimed);
  CHECK(trips([&] {
          session->settle({.stream = system.stream.id,
                           .group = system.group.id,
                           .ranges = {{.token = claimed.claimed->token,
                                       .resolved_to = 1001}}});
        })
        == 1);
}

SCENARIO("a lost reply to COMMIT is asked for", "[store][lost reply]") {
  const postgres_installation system;
  tcp_proxy proxy{database_url()};
  const auto session = system.open(proxy.url());
  auto by_hand = system.connect();
  const bool with_key = GENERATE(false, true);
  const auto batch = with_key ? std::vector{keyed("a"), keyed("b"), keyed("a")}
                              : numbered_messages(3);
  const std::string stored = with_key ? "2" : "3";
  const std::string commit{"COMMIT\0", 7}; // not that of READ COMMITTED

  WHEN("the server has committed") {
    proxy.cut_at(commit, cut_moment::after);
    const auto results = session->produce(system.stream.id, batch);
    THEN("it is a success with the ids that are stored") {
      CHECK(proxy.cuts() == 1);
      CHECK(results.size() == 3);
      CHECK_FALSE(results.front().duplicate);
      CHECK(results.back().duplicate == with_key);
      CHECK(count_messages(by_hand) == stored);
    }
  }
  WHEN("the server never saw it") {
    proxy.cut_at(commit, cut_moment::before);
    const auto results = session->produce(system.stream.id, batch);
    THEN("the batch is run again, once") {
      CHECK(proxy.cuts() == 1);
      CHECK(results.size() == 3);
      CHECK_FALSE(results.front().duplicate);
      CHECK(count_messages(by_hand) == stored);
    }
  }
}

SCENARIO("a settle whose reply is lost is told from a lost lease",
         "[store][lost reply]") {
  const postgres_installation system;
  tcp_proxy proxy{database_url()};
  const auto session = system.open(proxy.url());
  system.produce(4);
  const auto claimed = system.claim(*session);
  REQUIRE(claimed.claimed);
  range_settlement part{.token = claimed.claimed->token, .resolved_to = 4};
  exception_entry failed{.id = 2, .error = "oops"};
  failed.change = {.status = exception_status::dead};
  part.exceptions = {failed};
  const auto settle = [&] {
    return session->settle(
      {.stream = system.stream.id, .group = system.group.id, .ranges = {part}});
  };
  const auto moment = GENERATE(cut_moment::before, cut_moment::after);

  WHEN("it is cut off") {
    proxy.cut_at("/* settle */", moment);
    const auto result = settle();
    THEN("it succeeds, and once") {
      CHECK(proxy.cuts() == 1);
      CHECK(result.lost_ranges.empty());
      CHECK(result.committed == 4);
      CHECK(session->history(system.stream.id, system.group.id, 2).size() == 1);
    }
    AND_THEN("a plain repetition reports it as lost") {
      CHECK(settle().lost_ranges.size() == 1);
    }
  }
  WHEN("another took over before it arrived") {
    auto by_hand = system.connect();
    by_hand("UPDATE {schema}.claim_lease_{stream} SET expires_at = now()");
    REQUIRE(system.session
              ->reclaim({.stream = system.stream.id,
                         .group = system.group.id,
                         .lease = std::chrono::hours{1}})
              .reclaimed.size()
            == 1);
    proxy.cut_at("/* settle */", moment);
    THEN("the lease is lost") {
      CHECK(settle().lost_ranges.size() == 1);
      CHECK(session->history(system.stream.id, system.group.id, 2).empty());
    }
  }
  WHEN("a partial settle is cut off") {
    part.resolved_to = 2;
    part.rest = unresolved_rest::surrendered;
    proxy.cut_at("/* settle */", moment);
    THEN("it succeeds as well") {
      CHECK(settle().lost_ranges.empty());
      CHECK(system.session->lag(system.stream.id, system.group.id).committed
            == 2);
    }
  }
}

SCENARIO("partitions are made ahead and healed", "[store][partitions]") {
  const postgres_installation system{{.partition_size = 10}};
  auto by_hand = system.connect();
  WHEN("a batch passes half of the newest") {
    system.produce(4);
    CHECK(partitions(by_hand) == "_p0");
    system.produce(3);
    THEN("the next one is there") { CHECK(partitions(by_hand) == "_p0_p1"); }
  }
  WHEN("a burst goes far past those prepared") {
    const auto ids = system.produce(95);
    CHECK(ids.size() == 95);
    CHECK(count_messages(by_hand) == "95");
    CHECK(system.claim_ids() == ids);
  }
  WHEN("the ids jump") {
    by_hand("SELECT setval('{schema}.message_log_{stream}_id_seq', 5000)");
    system.produce(1);
    THEN("no partition is made for what was skipped") {
      CHECK(partitions(by_hand) == "_p0_p500");
    }
  }
  WHEN("eight append into a missing one at once") {
    by_hand("SELECT setval('{schema}.message_log_{stream}_id_seq', 70)");
    std::mutex mutex;
    std::set<message_id> ids;
    in_threads(8, [&](int) {
      const auto session = system.open();
      const auto results =
        session->produce(system.stream.id, numbered_messages(3));
      const std::lock_guard lock{mutex};
      for (const auto& one : results)
        ids.insert(one.id);
    });
    THEN("all land") {
      CHECK(ids.size() == 24);
      CHECK(count_messages(by_hand) == "24");
    }
  }
  WHEN("an application's transaction meets a missing one") {
    by_hand("CREATE TABLE {schema}.business (n int)");
    by_hand("SELECT setval('{schema}.message_log_{stream}_id_seq', 200)");
    pqxx::connection connection{database_url()};
    pqxx::work transaction{connection};
    transaction.exec("INSERT INTO " + system.schema() + ".business VALUES (1)");
    const auto produced_now = produce_in_tx(
      transaction, system.schema(), system.stream.id, numbered_messages(1));
    transaction.commit();
    THEN("its earlier writes are safe") {
      CHECK(produced_now.front().id == 201);
      CHECK(by_hand.ask("SELECT count(*) FROM {schema}.business") == "1");
      CHECK(count_messages(by_hand) == "1");
    }
  }
}

SCENARIO("nobody can fill the schema with partitions", "[store][partitions]") {
  const postgres_installation system{{.partition_size = 10}};
  auto by_hand = system.connect();
  // Roles are the whole server's: this one goes with the test.
  const auto role = "producer_of_" + system.schema();
  by_hand("CREATE ROLE \"" + role + "\"");
  by_hand("GRANT USAGE ON SCHEMA {schema} TO \"" + role + "\"");
  by_hand("GRANT SELECT, INSERT ON ALL TABLES IN SCHEMA {schema} TO \"" + role
          + "\"");
  by_hand("GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO \"" + role
          + "\"");
  by_hand("SET ROLE \"" + role + "\"");

  WHEN("a role that may only produce asks for partitions") {
    by_hand("SELECT {schema}.produce('orders', '1')");
    by_hand("SELECT {schema}.ensure_partition({stream}, 11)");
    for (const auto* id : {"21", "1000000", "9223372036854775807", "0", "-9"}) {
      INFO(id);
      CHECK_THROWS_AS(by_hand("SELECT {schema}.ensure_partition({stream}, "
                              + std::string{id} + ")"),
                      pqxx::sql_error);
    }
    CHECK_THROWS_AS(
      by_hand("SELECT {schema}.ensure_partitions({stream}, 1, 1000)"),
      pqxx::sql_error);
    THEN("it gets no further than the next one") {
      CHECK(partitions(by_hand) == "_p0_p1");
    }
  }
  WHEN("it produces into partitions that are not there yet") {
    by_hand("SELECT {schema}.produce('orders', '1') FROM "
            "generate_series(1, 35)");
    THEN("they are made") {
      CHECK(count_messages(by_hand) == "35");
      CHECK(partitions(by_hand) == "_p0_p1_p2_p3");
    }
  }
  by_hand("RESET ROLE");
  by_hand("DROP OWNED BY \"" + role + "\"");
  by_hand("DROP ROLE \"" + role + "\"");
}

SCENARIO("texts and sizes come back as they went", "[store][payload]") {
  const postgres_installation system;
  new_message given{.payload = R"({"q": "'\"\\\t%s 😀"})",
                    .routing_key = "a'b\"c\\d\t%\n",
                    .message_key = std::string(1024, 'k'),
                    .headers = {{"x y", "1\n\t\\"}, {"é", ""}}};
  given.options.timeout = std::chrono::seconds{7};
  new_message bytes{.payload = std::string{"\0\x01\xff\\", 4},
                    .content_type = "application/x"};
  const bool through_keys = GENERATE(false, true);
  if (through_keys)
    given.idempotency_key = "some key";
  system.session->produce(system.stream.id, {given, bytes});
  const auto result = system.claim();
  REQUIRE(result.claimed);
  const auto& first = result.claimed->messages.at(0);
  CHECK(first.payload == given.payload);
  CHECK(first.routing_key == given.routing_key);
  CHECK(first.message_key == given.message_key);
  CHECK(first.headers == given.headers);
  CHECK(first.options == given.options);
  CHECK(first.defect.empty());
  const auto& second = result.claimed->messages.at(1);
  CHECK(second.payload == bytes.payload);
  CHECK(second.content_type == bytes.content_type);
  CHECK(second.routing_key.empty());
}

SCENARIO("sixteen mebibytes pass", "[store][payload]") {
  const postgres_installation system;
  std::string payload(std::size_t{16} << 20, 'x');
  payload.front() = payload.back() = '"';
  system.session->produce(system.stream.id, {{.payload = payload}});
  const auto result = system.claim();
  REQUIRE(result.claimed);
  CHECK((result.claimed->messages.front().payload == payload));
}

SCENARIO("a claim ends before the bytes are too many", "[store][payload]") {
  const postgres_installation system;
  // Compressed when stored, so only its text shows its size.
  const auto payload = '"' + std::string(100000, 'x') + '"';
  system.session->produce(system.stream.id,
                          std::vector<new_message>(5, {.payload = payload}));
  const auto claim = [&](std::size_t bytes) {
    const auto result = system.session->claim({.stream = system.stream.id,
                                               .group = system.group.id,
                                               .limit = 100,
                                               .limit_bytes = bytes,
                                               .lease = std::chrono::hours{1}});
    return result.claimed ? result.claimed->messages.size() : 0;
  };
  CHECK(claim(250000) == 2);
  CHECK(claim(1) == 1);
  CHECK(claim(0) == 2);
}

SCENARIO("the server's refusal names the message", "[store][refusal]") {
  const postgres_installation system;
  auto batch = numbered_messages(9);
  batch[6].payload = "\"\\ud800\""; // unchecked, so the server refuses it
  try {
    system.session->produce(system.stream.id, batch);
    FAIL("produced");
  } catch (const refused_message& e) {
    CHECK(e.index() == 6);
    CHECK(e.number() == code::database_error);
    CHECK(e.recover() == recovery::permanent);
    CHECK(e.detail().find("of the batch") == std::string::npos);
  }
  auto by_hand = system.connect();
  CHECK(count_messages(by_hand) == "0");
  batch.erase(batch.begin() + 6);
  CHECK(system.session->produce(system.stream.id, batch).size() == 8);
}

SCENARIO("one key has one message, however many race", "[store][idempotency]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  WHEN("fifty produce it at once") {
    std::mutex mutex;
    std::set<message_id> ids;
    int originals = 0;
    in_threads(50, [&](int) {
      const auto session = system.open();
      const auto result =
        session->produce(system.stream.id, {keyed("same")}).front();
      const std::lock_guard lock{mutex};
      ids.insert(result.id);
      originals += result.duplicate ? 0 : 1;
    });
    THEN("all get the same id and one message is stored") {
      CHECK(ids.size() == 1);
      CHECK(originals == 1);
      CHECK(count_messages(by_hand) == "1");
    }
  }
  WHEN("batches hold the same keys in opposite order") {
    in_threads(8, [&](int thread) {
      const auto session = system.open();
      std::vector<new_message> batch;
      for (int i = 0; i < 50; ++i)
        batch.push_back(keyed("k" + std::to_string(thread % 2 ? i : 49 - i)));
      session->produce(system.stream.id, batch);
    });
    THEN("none is stuck and each key is stored once") {
      CHECK(count_messages(by_hand) == "50");
    }
  }
  WHEN("the first user of a key rolls back") {
    by_hand("BEGIN");
    by_hand("SELECT {schema}.produce('orders', '1', idempotency_key => 'k')");
    std::vector<produced> results;
    std::thread other{[&] {
      results = system.open()->produce(system.stream.id, {keyed("k", "2")});
    }};
    auto watch = system.connect();
    while (watch.ask("SELECT count(*) FROM pg_stat_activity WHERE"
                     " wait_event_type = 'Lock' AND query LIKE '%{schema}%'"
                     " AND pid <> pg_backend_pid()")
           == "0")
      std::this_thread::yield();
    by_hand("ROLLBACK");
    other.join();
    THEN("the one that waited stores its message") {
      CHECK_FALSE(results.front().duplicate);
      CHECK(count_messages(by_hand) == "1");
    }
  }
  WHEN("the first user of a key does not end") {
    by_hand("BEGIN");
    by_hand("SELECT {schema}.produce('orders', '1', idempotency_key => 'k')");
    THEN("who waits for it is told so after a while, and may try again") {
      try {
        system.session->produce(system.stream.id, {keyed("k", "2")});
        FAIL("produced");
      } catch (const error& e) {
        CHECK(e.number() == code::database_interrupted);
        CHECK(e.recover() == recovery::transient);
        CHECK_THAT(e.detail(), Catch::Contains("idempotency keys"));
      }
      by_hand("ROLLBACK");
      CHECK_FALSE(system.session->produce(system.stream.id, {keyed("k", "2")})
                    .front()
                    .duplicate);
    }
  }
  WHEN("SQL and library use the same key") {
    const auto id = by_hand.ask("SELECT {schema}.produce('orders', '1',"
                                " idempotency_key => 'shared')");
    const auto result =
      system.session->produce(system.stream.id, {keyed("shared")}).front();
    CHECK(result.duplicate);
    CHECK(std::to_string(result.id) == id);
  }
}

SCENARIO("SQL's produce refuses what the library refuses", "[store][sql]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  const auto refused = [&](const std::string& arguments, const char* code) {
    INFO(arguments);
    try {
      by_hand("SELECT {schema}.produce(" + arguments + ")");
      FAIL_CHECK("produced");
    } catch (const pqxx::sql_error& e) {
      CHECK(std::string{e.what()}.find(code) != std::string::npos);
    }
  };
  refused("'nobody', '1'", "SQL0005");
  refused("'orders', NULL", "SQL1003");
  refused("'orders', '1', schema_version => 0", "SQL1009");
  refused("'orders', '1', headers => '[]'", "SQL1013");
  refused("'orders', '1', headers => '{\"a\": 1}'", "SQL1013");
  refused("'orders', '1', options => '{\"tiemout\": 1}'", "SQL1001");
  refused("'orders', '1', options => '{\"timeout\": -1}'", "SQL1001");
  refused("'orders', '1', options => '{\"retry\": {\"base\": 1}}'", "SQL1001");
  refused("'orders', '1', options => '{\"concurrency\": \"ordered\"}'",
          "SQL1007");
  refused("'orders', '1', message_key => repeat('k', 1025)", "SQL1001");
  refused("'orders', to_jsonb(repeat('x', 16 * 1024 * 1024))", "SQL1006");
  CHECK(by_hand.ask("SELECT {schema}.produce('orders', '1', routing_key => '',"
                    " headers => '{}', options => '{}')")
        != "");
  CHECK(by_hand.ask("SELECT num_nonnulls(routing_key, headers, options)"
                    " FROM {schema}.message_log_{stream}")
        == "0");
}
