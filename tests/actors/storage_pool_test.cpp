#include "actors/storage_pool.hpp"

#include "actors/ask.hpp"
#include "actors/log.hpp"
#include "actors/messages.hpp"
#include "storage/interruptible_factory.hpp"
#include "tests/support/test_node.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <latch>
#include <thread>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

/// What the workers of a test were told to do.
struct worker_log {
  struct run {
    caf::actor worker;
    std::uint64_t number = 0;
    std::shared_ptr<call_interrupt> interrupt{};
  };
  std::vector<caf::actor> started;
  std::vector<run> runs;
};

caf::behavior noting_worker(caf::event_based_actor* self,
                            std::shared_ptr<worker_log> log) {
  return {[=](const run_call& what) {
    log->runs.push_back({caf::actor{self}, what.number, what.interrupt});
  }};
}

/// A pool over workers that only note what they are to do.
struct pool_fixture {
  explicit pool_fixture(std::size_t workers, std::size_t max_waiting = 100) {
    storage_pool_args args;
    args.options.max_connections = workers;
    args.options.max_waiting = max_waiting;
    args.start_worker = [log = log](caf::event_based_actor* self) {
      auto worker = self->spawn<caf::monitored>(noting_worker, log);
      log->started.push_back(worker);
      return worker;
    };
    pool = nodes.own(nodes.system().spawn(storage_pool, args));
    nodes.run();
    redirect_log(
      [this](const log_line& line) { lines.push_back(line.number); });
  }

  ~pool_fixture() {
    redirect_log({});
    log->started.clear(); // the workers hold the log
    log->runs.clear();
  }

  auto find_stream(std::string name = "orders") {
    return nodes.ask<stream_reply>(pool, find_stream_request{std::move(name)});
  }
  auto claim(std::chrono::nanoseconds lease = 1min) {
    claim_request request;
    request.lease = lease;
    return nodes.ask<claim_result>(pool, request);
  }
  auto produce() {
    return nodes.ask<produce_reply>(
      pool,
      produce_request{1, std::make_shared<const std::vector<new_message>>()});
  }

  void finish(std::size_t run, caf::message reply) {
    caf::anon_send(
      pool, call_finished{log->runs.at(run).number, std::move(reply), {}});
    nodes.run();
  }
  void find(std::size_t run) { finish(run, caf::make_message(stream_reply{})); }
  void fail(std::size_t run, const error& e) {
    caf::anon_send(
      pool, call_finished{log->runs.at(run).number, {}, to_caf_error(e)});
    nodes.run();
  }
  void end_pool() {
    caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
    nodes.run();
  }

  std::shared_ptr<worker_log> log = std::make_shared<worker_log>();
  std::vector<code> lines;
  test_system nodes;
  caf::actor pool;
};

const error outage{code::database_interrupted, recovery::transient, "gone"};
const error doubt{code::commit_confirmation_lost, recovery::unknown, "maybe"};

} // namespace

SCENARIO("requests go to idle workers and wait for busy ones", "[pool]") {
  GIVEN("a pool of two workers and three requests") {
    pool_fixture fixture{2};
    const auto first = fixture.find_stream();
    const auto second = fixture.find_stream();
    const auto third = fixture.find_stream();
    REQUIRE(fixture.log->runs.size() == 2);
    CHECK(fixture.log->runs[0].worker != fixture.log->runs[1].worker);

    WHEN("the second ends") {
      fixture.find(1);
      THEN("it is answered, and its worker takes the third") {
        CHECK(second->reply);
        CHECK(first->open());
        REQUIRE(fixture.log->runs.size() == 3);
        CHECK(fixture.log->runs[2].worker == fixture.log->runs[1].worker);
      }
    }
    WHEN("an answer comes twice") {
      fixture.find(1);
      fixture.find(1);
      THEN("the second changes nothing") {
        CHECK(second->reply);
        CHECK(third->open());
        CHECK(fixture.log->runs.size() == 3);
      }
    }
  }

  GIVEN("a pool where one request may wait") {
    pool_fixture fixture{1, 1};
    const auto running = fixture.find_stream();
    const auto waiting = fixture.find_stream();
    const auto refused = fixture.find_stream();
    THEN("a second one is refused at once") {
      REQUIRE(refused->failure);
      CHECK(refused->failure->number() == code::overloaded);
      CHECK(refused->failure->recover() == recovery::transient);
      CHECK(waiting->open());
    }
  }
}

SCENARIO("what an outage interrupts is tried again later", "[pool]") {
  GIVEN("a request that failed for a while") {
    pool_fixture fixture{1};
    const auto asked = fixture.find_stream();
    fixture.fail(0, outage);
    CHECK(asked->open());
    CHECK(fixture.log->runs.size() == 1);

    WHEN("the pause is over") {
      fixture.nodes.advance_by(1s);
      THEN("it runs again and is answered") {
        REQUIRE(fixture.log->runs.size() == 2);
        fixture.find(1);
        CHECK(asked->reply);
        CHECK(fixture.lines
              == std::vector{code::connection_lost, code::connection_restored});
      }
    }

    WHEN("it fails at each of its six attempts") {
      for (std::size_t run = 1; run < 6; ++run) {
        while (fixture.log->runs.size() == run)
          fixture.nodes.advance_by(1s);
        REQUIRE(fixture.log->runs.size() == run + 1);
        fixture.fail(run, outage);
      }
      THEN("the error is the answer, and the log has one line") {
        REQUIRE(asked->failure);
        CHECK(asked->failure->number() == code::database_interrupted);
        CHECK(fixture.lines == std::vector{code::connection_lost});
        fixture.nodes.advance_by(10min);
        CHECK(fixture.log->runs.size() == 6);
      }
    }

    WHEN("another request comes during the pause") {
      const auto other = fixture.find_stream();
      THEN("the worker is free for it") {
        REQUIRE(fixture.log->runs.size() == 2);
        fixture.find(1);
        CHECK(other->reply);
      }
    }
  }
}

SCENARIO("what must not be done twice is not tried again", "[pool]") {
  pool_fixture fixture{1};

  WHEN("a claim fails for a while") {
    const auto claimed = fixture.claim();
    fixture.fail(0, outage);
    THEN("its sender hears it at once") {
      REQUIRE(claimed->failure);
      CHECK(claimed->failure->recover() == recovery::transient);
    }
  }
  WHEN("nobody knows whether a produce call was committed") {
    const auto made = fixture.produce();
    fixture.fail(0, doubt);
    THEN("its sender hears so") {
      REQUIRE(made->failure);
      CHECK(made->failure->recover() == recovery::unknown);
    }
  }
  WHEN("nobody knows whether outcomes were recorded") {
    const auto settled =
      fixture.nodes.ask<settle_result>(fixture.pool, settle_request{});
    fixture.fail(0, doubt);
    fixture.nodes.advance_by(1s);
    THEN("they are recorded again: their tokens guard them") {
      CHECK(settled->open());
      CHECK(fixture.log->runs.size() == 2);
    }
  }
}

SCENARIO("nothing begins for an asker who cannot use it", "[pool]") {
  GIVEN("a pool whose one worker is busy, and a claim that waits") {
    pool_fixture fixture{1};
    const auto running = fixture.find_stream();
    const auto claimed = fixture.claim(20s);

    WHEN("half of the lease has passed before the worker is free") {
      fixture.nodes.advance_by(10s);
      fixture.find(0);
      THEN("nothing is claimed, and its sender hears why") {
        CHECK(fixture.log->runs.size() == 1);
        REQUIRE(claimed->failure);
        CHECK(claimed->failure->number() == code::overloaded);
        CHECK(claimed->failure->recover() == recovery::transient);
        CHECK_THAT(claimed->failure->detail(), Catch::Contains("10s"));
      }
    }
    WHEN("the worker is free just before") {
      fixture.nodes.advance_by(9'999ms);
      fixture.find(0);
      THEN("it claims") { CHECK(fixture.log->runs.size() == 2); }
    }
    WHEN("the worker does not become free at all") {
      fixture.nodes.advance_by(11s);
      THEN("the claim is refused all the same, and makes room") {
        CHECK(claimed->failure);
        CHECK(running->open());
      }
    }
  }

  GIVEN("a settle that fails for a while") {
    pool_fixture fixture{1};
    const auto settled =
      fixture.nodes.ask<settle_result>(fixture.pool, settle_request{});
    WHEN("the next attempt would begin when its recorder has given up") {
      fixture.nodes.advance_by(14'999ms);
      fixture.fail(0, outage);
      THEN("it is not made") {
        REQUIRE(settled->failure);
        CHECK(settled->failure->number() == code::database_interrupted);
        fixture.nodes.advance_by(10min);
        CHECK(fixture.log->runs.size() == 1);
      }
    }
  }
}

SCENARIO("a call that does not return is interrupted", "[pool]") {
  GIVEN("a call that runs, and a worker that is idle") {
    pool_fixture fixture{2};
    const auto asked = fixture.find_stream();
    const auto returned = fixture.find_stream();
    fixture.log->runs[1].interrupt->end();
    fixture.find(1);
    int interrupted = 0;
    fixture.log->runs[0].interrupt->end_wait_by([&] { ++interrupted; });

    WHEN("it has run for half a minute") {
      fixture.nodes.advance_by(29s);
      CHECK(interrupted == 0);
      fixture.nodes.advance_by(10s);
      THEN("it is interrupted once, and the other call is not") {
        CHECK(interrupted == 1);
        CHECK_FALSE(fixture.log->runs[1].interrupt->requested());
        CHECK(asked->open());
        AND_THEN("what it then says decides, as ever") {
          fixture.fail(0, outage);
          fixture.nodes.advance_by(2s);
          REQUIRE(fixture.log->runs.size() == 3);
          CHECK_FALSE(fixture.log->runs[2].interrupt->requested());
          fixture.find(2);
          CHECK(asked->reply);
        }
      }
    }
  }

  GIVEN("a transaction whose producer allows for a minute") {
    pool_fixture fixture{1};
    const auto made = fixture.nodes.ask<produce_reply>(
      fixture.pool,
      produce_request{1, std::make_shared<const std::vector<new_message>>(),
                      1min});
    WHEN("the minute has passed") {
      fixture.nodes.advance_by(70s);
      THEN("it still runs") {
        CHECK_FALSE(fixture.log->runs[0].interrupt->requested());
      }
    }
    WHEN("it should have connected and asked about a lost commit as well") {
      fixture.nodes.advance_by(82s);
      THEN("it is interrupted") {
        CHECK(fixture.log->runs[0].interrupt->requested());
        CHECK(made->open());
      }
    }
  }
}

SCENARIO("a worker that dies takes nothing with it", "[pool]") {
  pool_fixture fixture{1};
  const auto kill_worker = [&] {
    caf::anon_send_exit(fixture.log->started.back(), caf::exit_reason::kill);
    fixture.nodes.run();
  };

  WHEN("it dies idle") {
    kill_worker();
    const auto asked = fixture.find_stream();
    CHECK(fixture.log->runs.empty());
    THEN("another takes its place") {
      fixture.nodes.advance_by(1s);
      REQUIRE(fixture.log->runs.size() == 1);
      fixture.find(0);
      CHECK(asked->reply);
    }
  }
  WHEN("it dies while it reads") {
    const auto asked = fixture.find_stream();
    kill_worker();
    THEN("another reads") {
      fixture.nodes.advance_by(2s);
      REQUIRE(fixture.log->runs.size() == 2);
      fixture.find(1);
      CHECK(asked->reply);
    }
  }
  WHEN("it dies while it produces") {
    const auto made = fixture.produce();
    kill_worker();
    THEN("the sender hears that nobody knows") {
      REQUIRE(made->failure);
      CHECK(made->failure->number() == code::actor_failed);
      CHECK(made->failure->recover() == recovery::unknown);
    }
  }
}

SCENARIO("a pool that ends answers everybody", "[pool]") {
  GIVEN("a running request, a waiting one and one that pauses") {
    pool_fixture fixture{1};
    const auto pausing = fixture.find_stream();
    fixture.fail(0, outage);
    const auto running = fixture.find_stream();
    const auto waiting = fixture.find_stream();

    WHEN("it is told to end") {
      fixture.end_pool();
      THEN("those that do not run are refused at once") {
        REQUIRE(waiting->failure);
        CHECK(waiting->failure->number() == code::shutting_down);
        REQUIRE(pausing->failure);
        CHECK(pausing->failure->number() == code::shutting_down);
      }
      THEN("workers end, and the pool with them") {
        CHECK(test_system::ended(fixture.pool));
        CHECK_FALSE(running->open());
      }
    }
    WHEN("it is killed") {
      caf::anon_send_exit(fixture.pool, caf::exit_reason::kill);
      fixture.nodes.run();
      THEN("nobody is left without an answer") {
        for (const auto& asked : {pausing, running, waiting}) {
          REQUIRE(asked->failure);
          CHECK(asked->failure->number() == code::actor_failed);
        }
      }
    }
  }
}

namespace {

/// A store of which a single call matters: it blocks until it is released.
class blocking_store : public store {
public:
  blocking_store(std::latch& entered, std::atomic<bool>& released)
    : entered_{entered}, released_{released} {}

  std::optional<stream_info> find_stream(std::string_view name) override {
    entered_.count_down();
    released_.wait(false);
    return stream_info{1, std::string{name}};
  }
  std::vector<stream_info> list_streams() override {
    throw std::logic_error{"not an error of ours"};
  }

  system_registration register_system() override { return {}; }
  std::optional<system_info> find_system() override { return {}; }
  stream_registration
  register_stream(const stream_declaration_request&) override {
    return {};
  }
  group_registration register_group(const group_declaration_request&) override {
    return {};
  }
  std::optional<group_info> find_group(stream_id, std::string_view) override {
    return {};
  }
  std::vector<group_info> list_groups(stream_id) override { return {}; }
  std::vector<produced> produce(stream_id,
                                const std::vector<new_message>&) override {
    return {};
  }
  claim_result claim(const claim_request&) override { return {}; }
  reclaim_result reclaim(const reclaim_request&) override { return {}; }
  settle_result settle(const settle_request&) override { return {}; }
  exception_claim_result
  claim_exceptions(const exception_claim_request&) override {
    return {};
  }
  kill_result kill_exhausted(const kill_request&) override { return {}; }
  std::vector<exception_row>
  list_exceptions(const exception_list_request&) override {
    return {};
  }
  std::vector<history_row> history(stream_id, group_id, message_id) override {
    return {};
  }
  read_result read(const read_request&) override { return {}; }
  group_lag lag(stream_id, group_id) override { return {}; }

private:
  std::latch& entered_;
  std::atomic<bool>& released_;
};

class blocking_factory : public interruptible_factory {
public:
  blocking_factory(std::ptrdiff_t calls) : entered{calls} {}
  std::unique_ptr<store> open() override {
    return std::make_unique<blocking_store>(entered, released);
  }
  std::unique_ptr<store>
  open_interruptible(std::shared_ptr<call_interrupt> interrupt) override {
    interrupt->end_wait_by([this] { release(); });
    return open();
  }

  void release() {
    released = true;
    released.notify_all();
  }

  std::latch entered;
  std::atomic<bool> released = false;
};

} // namespace

SCENARIO("real workers block alone", "[pool]") {
  GIVEN("a pool of one connection whose call blocks") {
    const auto factory = std::make_shared<blocking_factory>(1);
    caf::actor_system_config config;
    add_sqlstreams_types(config);
    caf::actor_system system{config};
    const auto pool =
      spawn_storage_pool(system, factory, {.max_connections = 1});
    auto found = ask_async<stream_reply>(
      system, pool, find_stream_request{"orders"}, caf::infinite);
    factory->entered.wait(); // so that this one runs, and the next one waits
    auto listed = ask_async<streams_reply>(system, pool, list_streams_request{},
                                           caf::infinite);

    WHEN("it returns") {
      factory->release();
      THEN("the answers come, an exception of another kind as an error") {
        CHECK(found.get().stream->name == "orders");
        CHECK_THROWS_WITH(listed.get(),
                          Catch::Contains("not an error of ours"));
      }
    }
    WHEN("the pool is told to end meanwhile") {
      caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
      THEN("who waits is refused, and the call that runs is still answered") {
        CHECK_THROWS_WITH(listed.get(), Catch::Contains("shutting_down"));
        factory->release();
        CHECK(found.get().stream->name == "orders");
      }
    }
    WHEN("the pool is told to end and it does not return") {
      caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
      THEN("it is interrupted, and what it then says is the answer") {
        CHECK(found.get().stream->name == "orders");
      }
    }
    caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
  }
}
