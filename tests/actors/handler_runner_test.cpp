#include "actors/runner.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/response_promise.hpp>
#include <caf/send.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <condition_variable>
#include <future>
#include <mutex>
#include <stop_token>

using namespace sqlstreams;
using namespace std::chrono_literals;

namespace {

/// What a runner told its owner.
struct reports {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<chunk_finished> chunks;
  std::size_t freed = 0;
  std::size_t failures = 0;

  template <class Condition>
  void wait(Condition condition) {
    std::unique_lock lock{mutex};
    REQUIRE(changed.wait_for(lock, 60s, condition));
  }
  void wait_for_chunks(std::size_t count) {
    wait([&] { return chunks.size() >= count; });
  }
};

/// A runner with real threads, and its owner.
class running {
public:
  explicit running(handler_target target, std::size_t abandoned_limit = 1)
    : system_{prepared(config_)}, abandoned{std::make_shared<abandoned_runs>(
                                    abandoned_limit)} {
    auto started = std::make_shared<std::promise<caf::actor>>();
    owner_ = system_.spawn([=, told = told_, places = abandoned,
                            factory = make_runner_factory(std::move(target))](
                             caf::event_based_actor* self) -> caf::behavior {
      self->set_down_handler([](const caf::down_msg&) {});
      started->set_value(factory(
        self, {caf::actor{self}, 0, "orders", "billing", 10ms, places}));
      const auto tell = [told](auto change) {
        std::lock_guard lock{told->mutex};
        change(*told);
        told->changed.notify_all();
      };
      return {
        [=](const chunk_finished& what) {
          tell([&](reports& to) { to.chunks.push_back(what); });
        },
        [=](slot_freed) { tell([](reports& to) { ++to.freed; }); },
        [=](const session_failed&) {
          tell([](reports& to) { ++to.failures; });
        },
      };
    });
    runner_ = started->get_future().get();
  }
  ~running() {
    end_runner();
    caf::anon_send_exit(owner_, caf::exit_reason::kill);
  }

  void end_runner() {
    if (runner_)
      caf::anon_send_exit(runner_, caf::exit_reason::user_shutdown);
    runner_ = nullptr;
  }

  /// Runs messages 1 to `count`.
  void run(std::uint64_t number, std::size_t count,
           std::chrono::nanoseconds timeout = 1h) {
    auto items = std::make_shared<std::vector<run_item>>();
    for (std::size_t i = 0; i < count; ++i) {
      auto subject = std::make_shared<message>();
      subject->id = static_cast<message_id>(i + 1);
      run_item item;
      item.range = 1;
      item.index = i;
      item.message = std::move(subject);
      item.options.timeout = timeout;
      items->push_back(std::move(item));
    }
    caf::anon_send(runner_, run_chunk{number, std::move(items)});
  }

  template <class Message>
  void tell(const Message& what) {
    caf::anon_send(runner_, what);
  }

  reports& told() { return *told_; }
  caf::actor_system& system() { return system_; }

private:
  static caf::actor_system_config& prepared(caf::actor_system_config& config) {
    config.set("scheduler.max-threads", std::size_t{2});
    return config;
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  std::shared_ptr<reports> told_ = std::make_shared<reports>();
  caf::actor owner_;
  caf::actor runner_;

public:
  std::shared_ptr<abandoned_runs> abandoned;
};

/// A gate that a handler waits at.
struct gate {
  std::promise<void> opened;
  std::shared_future<void> open{opened.get_future().share()};
};

/// Waits until the token fires.
void wait_for_stop(const std::stop_token& stop) {
  std::promise<void> stopped;
  const std::stop_callback tell{stop, [&] {
                                  stopped.set_value();
                                }};
  stopped.get_future().wait();
}

} // namespace

SCENARIO("a handler runs message after message", "[runner]") {
  std::vector<message_id> seen;
  running r{message_handler{[&](delivery& run) {
    seen.push_back(run.message.id);
    CHECK(run.stream == "orders");
    CHECK(run.group == "billing");
    CHECK_FALSE(run.stop.stop_requested());
    CHECK(run.deadline > std::chrono::steady_clock::now());
    return run.message.id == 2 ? retry("no") : done();
  }}};
  r.run(1, 3);
  r.told().wait_for_chunks(1);
  r.run(2, 300);
  r.told().wait_for_chunks(2);
  const auto& first = r.told().chunks.at(0);
  CHECK(first.number == 1);
  REQUIRE(first.results.size() == 3);
  CHECK(first.results[0].result == done());
  CHECK(first.results[1].result == retry("no"));
  CHECK(first.results[2].ran);
  CHECK_FALSE(first.occupied);
  CHECK(r.told().chunks.at(1).results.size() == 300);
  CHECK(seen.size() == 303);
}

SCENARIO("a handler may throw what it likes", "[runner]") {
  running r{message_handler{[](delivery& run) -> outcome {
    switch (run.message.id) {
    case 1: throw 42;
    case 2: throw std::runtime_error{"broken"};
    case 3: throw permanent_failure{"hopeless"};
    default: return done();
    }
  }}};
  r.run(1, 4);
  r.told().wait_for_chunks(1);
  const auto& results = r.told().chunks.at(0).results;
  CHECK(results[0].result.error.find("int") != std::string::npos);
  CHECK(results[1].result == retry("broken"));
  CHECK(results[2].result == dead("hopeless"));
  CHECK(results[3].result == done());
}

SCENARIO("a handler that is over time is asked to stop", "[runner]") {
  std::vector<bool> stopped_before;
  running r{message_handler{[&](delivery& run) {
    stopped_before.push_back(run.stop.stop_requested());
    if (run.message.id == 1) {
      wait_for_stop(run.stop);
      return retry("I stopped");
    }
    return done();
  }}};
  r.run(1, 2, 20ms);
  r.told().wait_for_chunks(1);
  const auto& results = r.told().chunks.at(0).results;
  // It may be slower than its grace where the machine is busy.
  if (!results[0].abandoned) {
    CHECK(results[0].result == retry("I stopped"));
    CHECK(stopped_before == std::vector<bool>{false, false});
  }
  CHECK(results[0].ran);
}

SCENARIO("a handler that does not stop is abandoned", "[runner]") {
  auto held = std::make_shared<gate>();
  auto ended = std::make_shared<std::promise<void>>();
  running r{message_handler{[held, ended](delivery& run) {
    if (run.message.id == 1) {
      held->open.wait();
      ended->set_value();
    }
    return done();
  }}};
  r.run(1, 3, 10ms);
  r.told().wait_for_chunks(1);
  const auto first = r.told().chunks.at(0);
  CHECK(first.results[0].abandoned);
  CHECK(first.results[0].result.kind == outcome_kind::retry);
  CHECK(first.results[0].result.error == "timed out after 10ms");
  CHECK_FALSE(first.results[1].ran);
  CHECK_FALSE(first.results[2].ran);

  THEN("its thread is replaced, and its late result ignored") {
    CHECK_FALSE(first.occupied);
    CHECK(r.abandoned->count() == 1);
    r.run(2, 0);
    r.told().wait_for_chunks(2);
    held->opened.set_value();
    ended->get_future().wait();
    r.run(3, 0);
    r.told().wait_for_chunks(3);
    CHECK(r.told().chunks.size() == 3);
  }
  THEN("the runner can end while it still runs") {
    r.end_runner();
    held->opened.set_value();
    ended->get_future().wait();
  }
}

SCENARIO("threads are not replaced without bound", "[runner]") {
  auto held = std::make_shared<gate>();
  running r{message_handler{[held](delivery& run) {
              if (run.message.id == 1)
                held->open.wait();
              return done();
            }},
            1};
  r.run(1, 1, 10ms);
  r.told().wait_for_chunks(1);
  CHECK_FALSE(r.told().chunks.at(0).occupied);
  r.run(2, 1, 10ms);
  r.told().wait_for_chunks(2);
  CHECK(r.told().chunks.at(1).occupied);
  CHECK(r.told().chunks.at(1).results[0].abandoned);
  CHECK(r.told().freed == 0);
  held->opened.set_value();
  r.told().wait([&] { return r.told().freed == 1; });
  r.run(3, 2);
  r.told().wait_for_chunks(3);
  CHECK(r.told().chunks.at(2).results[1].result == done());
}

SCENARIO("a chunk is cut short between two messages", "[runner]") {
  auto held = std::make_shared<gate>();
  auto entered = std::make_shared<std::promise<void>>();
  auto stopped = std::make_shared<std::promise<void>>();
  running r{message_handler{[=](delivery& run) {
    if (run.message.id == 1) {
      const std::stop_callback tell{run.stop, [=] {
                                      stopped->set_value();
                                    }};
      entered->set_value();
      held->open.wait();
    }
    return done();
  }}};
  r.run(1, 3);
  entered->get_future().wait();

  WHEN("its range is lost") {
    r.tell(cancel_range{1});
    THEN("what runs is asked to stop, the others do not start") {
      stopped->get_future().wait();
      held->opened.set_value();
      r.told().wait_for_chunks(1);
      const auto& results = r.told().chunks.at(0).results;
      CHECK(results[0].ran);
      CHECK_FALSE(results[1].ran);
      CHECK_FALSE(results[2].ran);
    }
  }
  WHEN("the session ends") {
    r.tell(finish_early{});
    r.tell(stop_handlers{1min}); // the runner has read what came before
    THEN("what runs may end, the others do not start") {
      stopped->get_future().wait();
      held->opened.set_value();
      r.told().wait_for_chunks(1);
      const auto& results = r.told().chunks.at(0).results;
      CHECK(results[0].result == done());
      CHECK_FALSE(results[1].ran);
    }
  }
}

SCENARIO("handlers that run at the end of a shutdown are stopped, then "
         "abandoned",
         "[runner]") {
  auto entered = std::make_shared<std::promise<void>>();
  auto held = std::make_shared<gate>();
  running r{message_handler{[=](delivery& run) {
    entered->set_value();
    if (run.message.id == 1)
      held->open.wait();
    return done();
  }}};
  r.run(1, 2);
  entered->get_future().wait();
  r.tell(stop_handlers{1ms});
  r.told().wait_for_chunks(1);
  const auto& results = r.told().chunks.at(0).results;
  CHECK(results[0].abandoned);
  CHECK(results[0].result.kind == outcome_kind::deferred);
  CHECK_FALSE(results[1].ran);
  held->opened.set_value();
}

SCENARIO("a handler that is being run may be told to stop at shutdown",
         "[runner]") {
  auto entered = std::make_shared<std::promise<void>>();
  running r{message_handler{[=](delivery& run) {
    entered->set_value();
    wait_for_stop(run.stop);
    return retry("stopped");
  }}};
  r.run(1, 2);
  entered->get_future().wait();
  r.tell(stop_handlers{1min});
  r.told().wait_for_chunks(1);
  const auto& results = r.told().chunks.at(0).results;
  CHECK(results[0].result.kind == outcome_kind::deferred);
  CHECK(results[0].result.error.ends_with("stopped"));
  CHECK_FALSE(results[0].abandoned);
  CHECK_FALSE(results[1].ran);
}

namespace {

/// Where the user's actors live.
struct handler_system {
  caf::actor_system_config config;
  caf::actor_system system{config};
};

caf::behavior answering(caf::event_based_actor* self) {
  return {
    [=](const deliver& what) -> caf::result<outcome> {
      switch (what.message->id) {
      case 1: return done();
      case 2: return dead("no");
      case 3: // never answered
        self->make_response_promise();
        return caf::delegated<outcome>{};
      default: self->quit(); return retry("last words");
      }
    },
    [](const stop_delivery&) {},
  };
}

} // namespace

SCENARIO("a handler actor is asked message after message", "[runner]") {
  handler_system handlers;
  running r{handlers.system.spawn(answering)};

  WHEN("it answers") {
    r.run(1, 2);
    r.told().wait_for_chunks(1);
    const auto& results = r.told().chunks.at(0).results;
    CHECK(results[0].result == done());
    CHECK(results[1].result == dead("no"));
  }
  WHEN("it does not answer in time") {
    r.run(1, 4, 20ms);
    r.told().wait_for_chunks(1);
    THEN("that is a failure, and the rest has not run") {
      const auto& results = r.told().chunks.at(0).results;
      CHECK(results[2].abandoned);
      CHECK(results[2].result == retry("timed out after 20ms"));
      CHECK_FALSE(results[3].ran);
    }
  }
}

SCENARIO("a handler actor that ends fails what it had", "[runner]") {
  handler_system handlers;
  const auto handler =
    handlers.system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[=](const deliver&) -> caf::result<outcome> {
        self->make_response_promise();
        self->quit();
        return caf::delegated<outcome>{};
      }};
    });
  running r{handler};
  r.run(1, 2);
  r.told().wait_for_chunks(1);
  const auto& results = r.told().chunks.at(0).results;
  CHECK(results[0].result.kind == outcome_kind::retry);
  CHECK_FALSE(results[1].ran);
  r.told().wait([&] { return r.told().failures == 1; });
}

namespace {

/// A handler actor that answers when the test wants it to.
class patient_handler {
public:
  patient_handler()
    : handle{system_.system.spawn(
      [notes = notes_](caf::event_based_actor* self) -> caf::behavior {
        return {
          [=](const deliver&) -> caf::result<outcome> {
            notes->open.push_back(self->make_response_promise());
            return caf::delegated<outcome>{};
          },
          [=](const stop_delivery& what) {
            const std::lock_guard lock{notes->mutex};
            notes->stopped.push_back(what.id);
            notes->changed.notify_all();
          },
          [=](const outcome& answer) {
            for (auto& one : std::exchange(notes->open, {}))
              one.deliver(answer);
          },
        };
      })} {}

  ~patient_handler() { end(); }
  patient_handler(const patient_handler&) = delete;
  patient_handler& operator=(const patient_handler&) = delete;

  /// Answers all that is open.
  void answer(const outcome& what) { caf::anon_send(handle, what); }

  void end() { caf::anon_send_exit(handle, caf::exit_reason::user_shutdown); }

  /// Waits until it was asked to stop a message.
  void wait_for_stop(message_id id) {
    std::unique_lock lock{notes_->mutex};
    REQUIRE(notes_->changed.wait_for(lock, 60s, [&] {
      return std::count(notes_->stopped.begin(), notes_->stopped.end(), id) > 0;
    }));
  }

private:
  struct notes {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<message_id> stopped;
    std::vector<caf::response_promise> open; ///< of the actor alone
  };
  handler_system system_;
  std::shared_ptr<notes> notes_ = std::make_shared<notes>();

public:
  caf::actor handle;
};

} // namespace

SCENARIO("overdue answers of a handler actor are bounded", "[runner]") {
  patient_handler handler;
  running r{handler.handle, 1};
  r.run(1, 1, 10ms);
  r.told().wait_for_chunks(1);
  CHECK_FALSE(r.told().chunks.at(0).occupied);
  CHECK(r.abandoned->count() == 1);
  r.run(2, 1, 10ms);
  r.told().wait_for_chunks(2);
  CHECK(r.told().chunks.at(1).occupied);
  CHECK(r.told().chunks.at(1).results[0].abandoned);

  WHEN("the answers come") {
    handler.answer(done());
    THEN("the slot is free again and nothing is counted") {
      r.told().wait([&] { return r.told().freed == 1; });
      CHECK(r.abandoned->count() == 0);
      CHECK(r.told().chunks.size() == 2);
    }
  }
  WHEN("the handler ends") {
    handler.end();
    THEN("no answer is waited for") {
      r.told().wait([&] { return r.told().freed == 1; });
      r.told().wait([&] { return r.told().failures == 1; });
      CHECK(r.abandoned->count() == 0);
    }
  }
}

SCENARIO("a handler actor is told when an answer is urgent", "[runner]") {
  patient_handler handler;
  running r{handler.handle};

  WHEN("a delivery is over time") {
    r.run(1, 1, 10ms);
    handler.wait_for_stop(1);
    r.told().wait_for_chunks(1);
    CHECK(r.told().chunks.at(0).results[0].abandoned);
  }
  WHEN("its lease is lost") {
    r.run(1, 1);
    r.tell(cancel_range{1});
    handler.wait_for_stop(1);
    handler.answer(done());
    r.told().wait_for_chunks(1);
    CHECK(r.told().chunks.at(0).results[0].result == done());
  }
  WHEN("the session ends, and it answers in time") {
    r.run(1, 2);
    r.tell(stop_handlers{1min});
    handler.wait_for_stop(1);
    handler.answer(retry("interrupted"));
    r.told().wait_for_chunks(1);
    const auto& results = r.told().chunks.at(0).results;
    CHECK(results[0].result.kind == outcome_kind::deferred);
    CHECK_FALSE(results[0].abandoned);
    CHECK_FALSE(results[1].ran);
  }
  WHEN("the session ends, and it does not answer") {
    r.run(1, 1);
    r.tell(stop_handlers{1ms});
    handler.wait_for_stop(1);
    r.told().wait_for_chunks(1);
    const auto& results = r.told().chunks.at(0).results;
    CHECK(results[0].result.kind == outcome_kind::deferred);
    CHECK(results[0].abandoned);
  }
}
