#include "actors/consumer_session.hpp"

#include "actors/log.hpp"
#include "tests/actors/scripted_runner.hpp"
#include "tests/support/test_node.hpp"

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;

namespace {

/// A stream in memory, a group, and instances of it that come and go.
struct fleet {
  test_node node;
  std::unique_ptr<store> session = node.database().open();
  stream_info stream;
  group_info group;
  handler_script_ptr script = std::make_shared<handler_script>();
  std::uint32_t instances = 0;

  fleet() {
    redirect_log([](const log_line&) {});
    session->register_system();
    stream = session->register_stream({"orders", {}, "test"}).stream;
    group = session->register_group({stream.id, "billing", {}, "test"}).group;
  }
  ~fleet() { redirect_log({}); }
  fleet(const fleet&) = delete;
  fleet& operator=(const fleet&) = delete;

  void produce(std::size_t count) {
    new_message one;
    one.payload = "{}";
    session->produce(stream.id, std::vector<new_message>(count, one));
  }

  caf::actor start() {
    consumer_session_args args;
    args.storage = node.storage();
    args.spec.stream = stream;
    args.spec.group = group;
    args.spec.handler = message_handler{[](delivery&) {
      return done();
    }};
    args.spec.instance = "instance " + std::to_string(++instances);
    args.spec.seed = instances;
    args.spec = checked_spec(std::move(args.spec));
    args.start_runner = scripted_runners(script);
    return node.own(node.system().spawn(consumer_session, std::move(args)));
  }

  group_lag lag() { return session->lag(stream.id, group.id); }
};

} // namespace

SCENARIO("instances that come and go lose nothing", "[session]") {
  const auto seed = GENERATE(range(1u, 6u));
  INFO("seed " << seed);
  std::mt19937 random{seed};
  fleet f;
  std::set<message_id> succeeded;
  f.script->takes = 20ms;
  f.script->handler = [&](const run_item& item) {
    if (random() % 10 == 0)
      return retry("unlucky");
    succeeded.insert(item.message->id);
    return done();
  };
  std::vector<caf::actor> instances{f.start(), f.start(), f.start()};
  constexpr std::size_t total = 2000;
  for (std::size_t round = 0; round < 20; ++round) {
    f.produce(total / 20);
    f.node.advance_by(1s);
    auto& one = instances[random() % instances.size()];
    if (random() % 2 == 0)
      caf::anon_send_exit(one, caf::exit_reason::kill);
    else
      caf::anon_send(one, stop_consuming{});
    one = f.start();
  }
  f.node.advance_by(5min);
  const auto lag = f.lag();
  CHECK(lag.head == total);
  CHECK(lag.committed == total);
  CHECK(lag.ready + lag.inflight + lag.deferred == 0);
  CHECK(lag.open_leases == 0);
  CHECK(succeeded.size() + static_cast<std::size_t>(lag.dead) >= total);
}

SCENARIO("what a stopped instance gives back starts within a second",
         "[session]") {
  fleet f;
  f.produce(100);
  f.script->takes = 1s;
  const auto first = f.start();
  f.node.advance_by(3500ms);
  const auto second = f.start();
  const auto answer = f.node.ask<session_totals>(first, stop_consuming{});
  f.node.advance_by(500ms);
  REQUIRE(answer->reply);
  CHECK(answer->reply->surrendered == 96);
  const auto before = f.script->started.size();
  f.node.advance_by(1s);
  CHECK(f.script->started.size() > before);
  f.node.advance_by(100s);
  CHECK(f.lag().committed == 100);
  CHECK(f.script->started.size() == 100);
}

SCENARIO("a message that kills its consumer ends as a dead letter",
         "[session]") {
  fleet f;
  f.produce(20);
  std::map<message_id, int> handled;
  f.script->takes = 10ms;
  caf::actor instance = f.start();
  int deaths = 0;
  f.script->handler = [&](const run_item& item) {
    if (item.message->id == 5) {
      ++deaths;
      caf::anon_send_exit(instance, caf::exit_reason::kill);
      return retry("never recorded");
    }
    ++handled[item.message->id];
    return done();
  };
  for (int i = 0; i < 600; ++i) {
    f.node.advance_by(1s);
    if (test_system::ended(instance))
      instance = f.start();
  }
  const auto lag = f.lag();
  CHECK(lag.committed == 20);
  CHECK(lag.dead == 1);
  CHECK(handled.size() == 19);
  CHECK(deaths <= 8); // the range's reclaims, then the message's own budget
}
