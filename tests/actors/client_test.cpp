#include <sqlstreams/client.hpp>

#include "actors/log.hpp"
#include "storage/memory/memory_store.hpp"
#include "tests/support/tcp_proxy.hpp"
#include "tests/support/test_database.hpp"

#include <catch2/catch.hpp>
#include <pqxx/pqxx>

#include <algorithm>
#include <atomic>
#include <future>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

struct payment {
  static constexpr int schema_version = 1;
  std::string order;
  int cents = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(payment, order, cents)

/// The same stream read as something else: its orders are numbers.
struct odd_payment {
  static constexpr int schema_version = 1;
  int order = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(odd_payment, order)

/// Lines of the log, which these tests do not want on the terminal.
struct quiet_log {
  quiet_log() {
    redirect_log([](const log_line&) {});
  }
  ~quiet_log() { redirect_log({}); }
};

struct memory_client {
  quiet_log quiet;
  client connected{
    std::make_shared<memory_database>([] {
      return std::chrono::time_point_cast<std::chrono::microseconds>(
        std::chrono::system_clock::now());
    }),
    {}};
};

struct postgres_client {
  quiet_log quiet;
  fresh_schema schema;
  client connected{
    {.url = database_url(), .schema = schema.name(), .max_connections = 2}};
};

/// Returns the code of the error that a call throws.
template <class Call>
code code_of(Call call) {
  try {
    call();
  } catch (const error& e) {
    INFO(e.what());
    CHECK_FALSE(e.fix().empty());
    return e.number();
  }
  FAIL("nothing was thrown");
  return code{};
}

client connect_to(std::string url) {
  return client{{.url = std::move(url), .retry = {.max_retries = 1}}};
}

message_id id_of(const produced& made) { return made.id; }

} // namespace

TEMPLATE_TEST_CASE("a handle asks nothing until it is used", "[client]",
                   memory_client, postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  CHECK(payments.name() == "payments");
  CHECK_FALSE(payments.get());
  CHECK_FALSE(payments.consumer("billing").get());
  CHECK(code_of([&] { (void)payments.register_producer(); })
        == code::stream_not_found);
  CHECK(code_of([&] { payments.consumer("billing").register_group(); })
        == code::stream_not_found);
  CHECK(code_of([&] { (void)payments.consumer("billing").lag(); })
        == code::stream_not_found);
}

TEMPLATE_TEST_CASE("a declaration says what it did", "[client]", memory_client,
                   postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  CHECK(payments.register_stream().effect == registration_effect::created);
  CHECK(payments.register_stream().effect == registration_effect::unchanged);
  const auto updated = payments.register_stream({.retention = 24h * 30});
  CHECK(updated.effect == registration_effect::updated);
  CHECK_THAT(updated.changes, Catch::Contains("retention"));
  CHECK(payments.get()->config.retention == 24h * 30);
  CHECK(fixture.connected.streams().size() == 1);

  const auto group = payments.consumer("billing").register_group();
  CHECK(group.registration().effect == registration_effect::created);
  CHECK(payments.consumer("billing").get()->name == "billing");
  CHECK(payments.raw().groups().size() == 1);
  CHECK(code_of([&] { (void)payments.consumer("other").open(); })
        == code::group_not_found);
  CHECK(code_of([&] { (void)payments.consumer("other").lag(); })
        == code::group_not_found);
}

TEMPLATE_TEST_CASE("values are produced in every way", "[client]",
                   memory_client, postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  payments.register_stream();
  const auto producer = payments.register_producer();

  SECTION("one by one") {
    const auto first = producer.produce({"a", 1});
    const auto second = producer.produce({"b", 2});
    CHECK(first.id > 0);
    CHECK(second.id > first.id);
    CHECK_FALSE(first.duplicate);
    const auto read = payments.read();
    REQUIRE(read.messages.size() == 2);
    CHECK(codec<payment>::decode(read.messages[1].payload).order == "b");
    CHECK(read.messages[1].schema_version == 1);
  }
  SECTION("without waiting") {
    std::vector<std::future<produced>> futures;
    for (int i = 0; i < 200; ++i)
      futures.push_back(producer.produce_async({"a", i}));
    std::vector<message_id> ids;
    for (auto& future : futures)
      ids.push_back(future.get().id);
    std::sort(ids.begin(), ids.end());
    CHECK(std::unique(ids.begin(), ids.end()) == ids.end());
    CHECK(payments.read({}, 1000).messages.size() == 200);
  }
  SECTION("in a batch") {
    const auto made =
      producer.produce_batch(std::vector<payment>{{"a", 1}, {"b", 2}});
    REQUIRE(made.size() == 2);
    CHECK(made[0].id < made[1].id);
  }
  SECTION("in a batch with options of their own") {
    const auto made = producer.produce_batch(std::vector<outgoing<payment>>{
      {{"a", 1}, {.routing_key = "eu.de", .headers = {{"trace", "7"}}}},
      {{"b", 2}, {.routing_key = "us"}}});
    REQUIRE(made.size() == 2);
    const auto read = payments.read();
    CHECK(read.messages[0].routing_key == "eu.de");
    CHECK(read.messages[0].headers.at("trace") == "7");
    CHECK(read.messages[1].routing_key == "us");
  }
  SECTION("once, by an idempotency key") {
    const auto first = producer.produce({"a", 1}, {.idempotency_key = "k"});
    const auto again = producer.produce({"a", 1}, {.idempotency_key = "k"});
    CHECK_FALSE(first.duplicate);
    CHECK(again == produced{first.id, true});
    const auto batch = producer.produce_batch(
      std::vector<outgoing<payment>>{{{"a", 1}, {.idempotency_key = "k"}},
                                     {{"b", 2}, {.idempotency_key = "other"}}});
    CHECK(batch[0] == produced{first.id, true});
    CHECK_FALSE(batch[1].duplicate);
    CHECK(payments.read().messages.size() == 2);
  }
}

TEMPLATE_TEST_CASE("bad input is refused with a code, its neighbours are not",
                   "[client]", memory_client, postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  payments.register_stream({.max_payload_bytes = 1000});
  const auto producer = payments.register_producer();
  const auto raw = payments.raw().register_producer();

  CHECK(code_of([&] { producer.produce({"\xff", 1}); }) == code::invalid_utf8);
  CHECK(code_of([&] {
          producer.produce({std::string("a\0b", 3), 1});
        })
        == code::text_has_nul);
  CHECK(code_of([&] {
          producer.produce({std::string(1000, 'a'), 1});
        })
        == code::payload_too_large);
  CHECK(code_of([&] { raw.produce({"{"}); }) == code::payload_not_json);
  CHECK(code_of([&] { raw.produce({R"("\u0000")"}); }) == code::text_has_nul);
  for (const auto* number : {"1e200000", "1e-200000", "0e-16384"})
    CHECK(code_of([&] { raw.produce({number}); }) == code::payload_not_json);
  CHECK(code_of([&] { raw.produce({"\"\xc3\x28\""}); }) == code::invalid_utf8);
  CHECK(code_of([&] { raw.produce({.payload = "{}", .schema_version = 0}); })
        == code::invalid_schema_version);
  CHECK(code_of([&] {
          producer.produce(
            {"a", 1}, {.options = {.concurrency = concurrency::exclusive}});
        })
        == code::key_required);
  CHECK(code_of([&] {
          raw.produce_batch({{"1"}, {"{"}});
        })
        == code::payload_not_json);
  CHECK(payments.read().messages.empty());

  auto bad = raw.produce_async({"{"});
  auto good = raw.produce_async({"{}"});
  CHECK(code_of([&] { bad.get(); }) == code::payload_not_json);
  CHECK(good.get().id > 0);
  CHECK(payments.read().messages.size() == 1);
}

TEMPLATE_TEST_CASE("values are handled until somebody says stop", "[client]",
                   memory_client, postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  payments.register_stream();
  const auto producer = payments.register_producer();
  const auto billing = payments.consumer("billing");
  producer.produce_batch(std::vector<payment>{{"a", 1}, {"b", 2}, {"c", 3}});
  std::stop_source stop;

  SECTION("by a call that blocks") {
    std::atomic<int> cents = 0;
    const auto totals = billing.register_group().consume(
      [&](const payment& paid, delivery& run) {
        CHECK(run.stream == "payments");
        cents += paid.cents;
        if (paid.order == "c")
          stop.request_stop();
        return done();
      },
      {.claim_poll_rate = 20ms}, stop.get_token());
    CHECK(cents == 6);
    CHECK(totals.success == 3);
    CHECK(billing.lag().backlog == 0);
  }
  SECTION("in the background") {
    std::promise<void> last;
    auto running = billing.register_group().start(
      [&](const payment& paid, delivery&) {
        if (paid.order == "c")
          last.set_value();
        return done();
      },
      {.claim_poll_rate = 20ms});
    last.get_future().wait();
    CHECK_FALSE(running.ended());
    running.stop();
    CHECK(running.wait().success == 3);
    CHECK(running.ended());
    CHECK(running.totals().success == 3);
  }
  SECTION("what does not decode is dead, with the reason but no payload") {
    const auto odd = fixture.connected.template stream<odd_payment>("payments")
                       .consumer("odd");
    const auto group = odd.raw().register_group();
    group.consume(
      decoding<odd_payment>([](const odd_payment&, delivery&) -> outcome {
        FAIL("was called");
        return done();
      }),
      {.options = {.claim_poll_rate = 20ms}, .max_messages = 3});
    const auto dead_ones = odd.exceptions(exception_status::dead);
    REQUIRE(dead_ones.size() == 3);
    CHECK_THAT(dead_ones[0].last_error, Catch::Contains("cannot be decoded"));
  }
  SECTION("a client that goes takes its sessions with it") {
    auto running = billing.register_group().start(
      [&](const payment&, delivery&) { return done(); },
      {.claim_poll_rate = 20ms});
    fixture.connected.close();
    CHECK(running.ended());
  }
}

TEMPLATE_TEST_CASE("handles outlive their client, but do nothing any more",
                   "[client]", memory_client, postgres_client) {
  TestType fixture;
  const auto payments = fixture.connected.template stream<payment>("payments");
  payments.register_stream();
  const auto producer = payments.register_producer();
  const auto group = payments.consumer("billing").register_group();
  fixture.connected.close();
  CHECK(code_of([&] { (void)payments.get(); }) == code::shutting_down);
  CHECK(code_of([&] { producer.produce({"a", 1}); }) == code::shutting_down);
  CHECK(code_of([&] {
          (void)group.start([](const payment&, delivery&) { return done(); });
        })
        == code::shutting_down);
}

SCENARIO("a client that cannot connect says why, at once", "[client]") {
  const quiet_log quiet;
  WHEN("the address is none") {
    CHECK(code_of([] { connect_to("nonsense"); })
          == code::invalid_database_url);
  }
  WHEN("nobody listens") {
    CHECK(code_of([] { connect_to("postgres://127.0.0.1:1/app"); })
          == code::database_unreachable);
  }
  WHEN("the password is wrong") {
    // The private server asks for one on its port, not on its socket.
    pqxx::connection server{database_url()};
    const auto url = "postgres://" + std::string{server.username()}
                     + ":secret-and-wrong@127.0.0.1:" + server.port() + "/"
                     + server.dbname();
    try {
      connect_to(url);
      FAIL("connected");
    } catch (const error& e) {
      CHECK(e.number() == code::authentication_failed);
      CHECK_THAT(e.what(), !Catch::Contains("secret"));
    }
  }
  WHEN("the database does not exist") {
    pqxx::connection server{database_url()};
    const auto url = "host=" + std::string{server.hostname()}
                     + " port=" + server.port() + " user=" + server.username()
                     + " dbname=nowhere";
    CHECK_THROWS_WITH(connect_to(url), Catch::Contains("nowhere"));
  }
  WHEN("an option is impossible") {
    CHECK(
      code_of([] { client{{.url = "postgres:///app", .max_connections = 0}}; })
      == code::invalid_option);
  }
}

SCENARIO("a database without an installation gets one, if that is allowed",
         "[client]") {
  const quiet_log quiet;
  const fresh_schema schema;
  node_options options{.url = database_url(), .schema = schema.name()};

  WHEN("it is not allowed") {
    options.register_system = false;
    const client reader{options};
    THEN("nothing is made, and what needs it fails") {
      CHECK_FALSE(reader.system());
      CHECK(code_of([&] { reader.stream("payments").register_stream(); })
            == code::system_not_registered);
    }
  }
  WHEN("it is allowed") {
    const client owner{options};
    THEN("it is there") {
      CHECK(owner.system());
      CHECK(owner.register_system().effect == registration_effect::unchanged);
    }
  }
}

namespace {

/// A stream beside a table of the application.
struct transaction_fixture : postgres_client {
  transaction_fixture() {
    payments.register_stream();
    pqxx::connection server{database_url()};
    pqxx::work tx{server};
    tx.exec0("CREATE TABLE " + table + " (name text)");
    tx.commit();
  }

  transaction_work insert(std::string name) {
    return [this, name](pqxx::transaction_base& tx) {
      tx.exec_params0("INSERT INTO " + table + " VALUES ($1)", name);
    };
  }

  int rows() {
    pqxx::connection server{database_url()};
    pqxx::work tx{server};
    return tx.exec1("SELECT count(*) FROM " + table)[0].as<int>();
  }

  std::size_t messages() { return payments.read().messages.size(); }

  std::string table = schema.name() + ".orders";
  stream_handle<payment> payments = connected.stream<payment>("payments");
};

} // namespace

SCENARIO("messages and the application's writes are committed together",
         "[client]") {
  GIVEN("a producer") {
    transaction_fixture fixture;
    const auto producer = fixture.payments.register_producer();

    WHEN("work is done with a message") {
      const auto made = producer.produce_with({"a", 1}, fixture.insert("a"));
      THEN("both are there") {
        CHECK(made.id > 0);
        CHECK(fixture.rows() == 1);
        CHECK(fixture.messages() == 1);
      }
    }
    WHEN("the work throws") {
      CHECK_THROWS_AS(producer.produce_with({"a", 1},
                                            [&](pqxx::transaction_base& tx) {
                                              fixture.insert("a")(tx);
                                              throw std::domain_error{"no"};
                                            }),
                      std::domain_error);
      THEN("neither is") {
        CHECK(fixture.rows() == 0);
        CHECK(fixture.messages() == 0);
      }
    }
    WHEN("the work meets a conflict that passes") {
      int runs = 0;
      producer.produce_with({"a", 1}, [&](pqxx::transaction_base& tx) {
        fixture.insert("a")(tx);
        if (++runs == 1)
          tx.exec0("DO $$ BEGIN RAISE EXCEPTION 'conflict' "
                   "USING ERRCODE = '40001'; END $$");
      });
      THEN("it runs again, and counts once") {
        CHECK(runs == 2);
        CHECK(fixture.rows() == 1);
        CHECK(fixture.messages() == 1);
      }
    }
    WHEN("the work says something the server does not understand") {
      int runs = 0;
      CHECK(code_of([&] {
              producer.produce_with({"a", 1}, [&](pqxx::transaction_base& tx) {
                ++runs;
                tx.exec0("SELEKT");
              });
            })
            == code::database_error);
      THEN("it is not repeated") { CHECK(runs == 1); }
    }
    WHEN("several messages go into a transaction of the client") {
      fixture.connected.transaction([&](pqxx::transaction_base& tx) {
        fixture.insert("a")(tx);
        producer.produce_in_tx(tx, {"a", 1});
        producer.produce_in_tx(tx, {"b", 2}, {.idempotency_key = "b"});
      });
      THEN("all are there") {
        CHECK(fixture.rows() == 1);
        CHECK(fixture.messages() == 2);
      }
    }
    WHEN("the application brings its own transaction and rolls back") {
      pqxx::connection own{database_url()};
      {
        pqxx::work tx{own};
        CHECK(id_of(producer.produce_in_tx(tx, {"a", 1})) > 0);
      }
      THEN("there is no message") { CHECK(fixture.messages() == 0); }
    }
    WHEN("a message is bad") {
      bool ran = false;
      CHECK(code_of([&] {
              producer.produce_with(
                {"\xff", 1}, [&](pqxx::transaction_base&) { ran = true; });
            })
            == code::invalid_utf8);
      THEN("the work is not even begun") { CHECK_FALSE(ran); }
    }
  }
}

SCENARIO("what the application throws is not the database's failure",
         "[client]") {
  transaction_fixture fixture;
  const auto producer = fixture.payments.register_producer();
  int runs = 0;
  const auto fail_by_itself = [&](pqxx::transaction_base& tx) {
    ++runs;
    fixture.insert("a")(tx);
    throw error{code::database_interrupted, "another service was away"};
  };
  try {
    producer.produce_with({"a", 1}, fail_by_itself);
    FAIL("it went through");
  } catch (const error& e) {
    CHECK_THAT(e.detail(), Catch::Contains("another service"));
  }
  CHECK(runs == 1);
  CHECK(fixture.rows() == 0);
  // The connection is as good as before.
  fixture.connected.transaction(fixture.insert("b"));
  CHECK(fixture.rows() == 1);
}

SCENARIO("an application's transaction survives a lost connection",
         "[client][lost reply]") {
  transaction_fixture fixture;
  tcp_proxy proxy{database_url()};
  const client through{{.url = proxy.url(),
                        .schema = fixture.schema.name(),
                        .max_connections = 1,
                        .retry = {.base_delay = 1ms}}};
  const auto producer = through.stream<payment>("payments").register_producer();
  int runs = 0;
  const auto work = [&](pqxx::transaction_base& tx) {
    ++runs;
    fixture.insert("a")(tx);
  };
  const std::string commit{"COMMIT\0", 7}; // not that of READ COMMITTED

  WHEN("the server has committed, and its reply is lost") {
    proxy.cut_at(commit, cut_moment::after);
    const auto made = producer.produce_with({"a", 1}, work);
    THEN("it is a success, and the work did not run again") {
      CHECK(proxy.cuts() == 1);
      CHECK(runs == 1);
      CHECK(made.id > 0);
    }
  }
  WHEN("the server never saw the commit") {
    proxy.cut_at(commit, cut_moment::before);
    producer.produce_with({"a", 1}, work);
    THEN("the work ran again") {
      CHECK(proxy.cuts() == 1);
      CHECK(runs == 2);
    }
  }
  WHEN("the connection goes while the message is produced") {
    proxy.cut_at("produce in a transaction", cut_moment::before);
    through.transaction([&](pqxx::transaction_base& tx) {
      work(tx);
      producer.produce_in_tx(tx, {"a", 1});
    });
    THEN("the work ran again") {
      CHECK(proxy.cuts() == 1);
      CHECK(runs == 2);
    }
  }
  CHECK(fixture.rows() == 1);
  CHECK(fixture.messages() == 1);
}

SCENARIO("a client without PostgreSQL has no transactions", "[client]") {
  memory_client fixture;
  CHECK(code_of([&] {
          fixture.connected.transaction([](pqxx::transaction_base&) {});
        })
        == code::invalid_option);
}
