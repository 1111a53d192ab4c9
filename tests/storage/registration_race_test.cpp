// Many processes that start at the same time.

#include "config/error.hpp"
#include "tests/storage/postgres_installation.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <functional>
#include <latch>
#include <mutex>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;

namespace {

/// Runs the same on sessions of its own, all at once; returns what each got.
template <class Result>
std::vector<Result> all_at_once(int count, store_factory& factory,
                                std::function<Result(store&)> call) {
  std::latch start{count};
  std::mutex mutex;
  std::vector<Result> results;
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&] {
      const auto session = factory.open();
      start.arrive_and_wait();
      auto result = call(*session);
      const std::lock_guard lock{mutex};
      results.push_back(std::move(result));
    });
  }
  for (auto& thread : threads)
    thread.join();
  return results;
}

template <class Results>
auto created(const Results& results) {
  return std::count_if(results.begin(), results.end(), [](const auto& one) {
    return one.effect == registration_effect::created;
  });
}

} // namespace

SCENARIO("of many that start at once one creates, the others find",
         "[store][registration]") {
  const fresh_schema schema;
  const auto factory =
    make_postgres_factory({.url = database_url(), .schema = schema.name()});

  const auto systems = all_at_once<system_registration>(
    10, *factory, [](store& s) { return s.register_system(); });
  CHECK(systems.size() == 10);
  CHECK(created(systems) == 1);

  const auto streams =
    all_at_once<stream_registration>(8, *factory, [](store& s) {
      return s.register_stream({.name = "orders"});
    });
  CHECK(created(streams) == 1);
  for (const auto& one : streams)
    CHECK(one.stream.id == streams.front().stream.id);

  const auto groups =
    all_at_once<group_registration>(8, *factory, [&](store& s) {
      return s.register_group(
        {.stream = streams.front().stream.id, .name = "billing"});
    });
  CHECK(created(groups) == 1);

  THEN("each is logged once") {
    hand by_hand{database_url(), schema.name(), streams.front().stream.id};
    CHECK(by_hand.ask("SELECT count(*) FROM {schema}.migration_log") == "2");
    CHECK(by_hand.ask("SELECT count(*) FROM {schema}.stream_config_log")
          == "1");
    CHECK(by_hand.ask("SELECT count(*) FROM {schema}.consumer_group_config_log")
          == "1");
  }
}

SCENARIO("registering needs CREATE on the database only",
         "[store][registration]") {
  const fresh_schema schema;
  hand admin{database_url(), schema.name(), 0};
  const auto role = "role_" + schema.name();
  admin("CREATE ROLE " + role + " LOGIN PASSWORD 'p'");
  auto settings = database_url();
  // The test server's address names a superuser: act as the role instead.
  settings += (settings.find('?') == std::string::npos ? "?" : "&");
  settings += "options=-c%20role%3D" + role;
  const auto factory =
    make_postgres_factory({.url = settings, .schema = schema.name()});
  const auto session = factory->open();

  GIVEN("a role without it") {
    THEN("it is told what to grant") {
      try {
        session->register_system();
        FAIL("registered");
      } catch (const sqlstreams::error& e) {
        CHECK(e.number() == code::schema_creation_denied);
        CHECK(e.fix().find("GRANT CREATE") != std::string::npos);
        CHECK(e.fix().find(role) != std::string::npos);
      }
    }
    AND_WHEN("somebody has made the schema for it") {
      admin("CREATE SCHEMA {schema} AUTHORIZATION " + role);
      THEN("it registers and produces") {
        session->register_system();
        const auto stream = session->register_stream({.name = "orders"}).stream;
        CHECK(session->produce(stream.id, numbered_messages(1)).size() == 1);
      }
      admin("DROP SCHEMA {schema} CASCADE");
    }
  }
  admin("DROP ROLE " + role);
}

SCENARIO("tampering with ids is found at start", "[store][registration]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  const auto refusal = [&] {
    try {
      system.session->find_stream("orders");
    } catch (const sqlstreams::error& e) {
      return e.number();
    }
    return code::usage;
  };
  REQUIRE(system.session->find_stream("orders"));
  WHEN("the sequence gets a cache") {
    by_hand("ALTER SEQUENCE {schema}.message_log_{stream}_id_seq CACHE 50");
    CHECK(refusal() == code::sequence_unsafe);
  }
  WHEN("the default loses the lock") {
    by_hand("ALTER TABLE {schema}.message_log_{stream} ALTER id SET DEFAULT"
            " nextval('{schema}.message_log_{stream}_id_seq')");
    CHECK(refusal() == code::sequence_unsafe);
  }
  WHEN("a newer build has migrated") {
    by_hand("INSERT INTO {schema}.migration_log"
            " (scope, version, oldest_compatible) VALUES ('system', 9, 9)");
    CHECK_THROWS_AS(system.session->find_system(), sqlstreams::error);
  }
}

SCENARIO("an unchanged declaration writes nothing", "[store][registration]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  const auto rows = [&] {
    return by_hand.ask(
      "SELECT (SELECT count(*) FROM {schema}.stream_config_log)"
      " + (SELECT count(*) FROM"
      " {schema}.consumer_group_config_log)"
      " + (SELECT sum(xmin::text::bigint)"
      " FROM {schema}.stream_config)"
      " + (SELECT sum(xmin::text::bigint)"
      " FROM {schema}.consumer_group_config)");
  };
  const auto before = rows();
  CHECK(system.session->register_system().effect
        == registration_effect::unchanged);
  CHECK(system.session->register_stream({.name = "orders"}).effect
        == registration_effect::unchanged);
  CHECK(system.session
          ->register_group({.stream = system.stream.id, .name = "billing"})
          .effect
        == registration_effect::unchanged);
  CHECK(rows() == before);
}

SCENARIO("a session that ends leaves no connection", "[store]") {
  const postgres_installation system;
  auto by_hand = system.connect();
  const auto connections = [&] {
    return by_hand.ask("SELECT count(*) FROM pg_stat_activity"
                       " WHERE application_name = '{schema_text}'");
  };
  postgres_options options{.url = database_url(), .schema = system.schema()};
  options.application_name = system.schema();
  const auto factory = make_postgres_factory(options);
  auto session = factory->open();
  session->list_streams();
  REQUIRE(connections() == "1");
  session.reset();
  // The server notices on its own time; a leak would make this endless.
  while (connections() != "0")
    std::this_thread::yield();
}
