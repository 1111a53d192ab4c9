#pragma once
// Actors on one thread under virtual time. Nothing happens until `run` or
// `advance_by` is called, and the same calls give the same run.

#include "actors/error_transport.hpp"
#include "actors/spawn.hpp"
#include "storage/memory/memory_store.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/scheduler/test_coordinator.hpp>
#include <caf/send.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace sqlstreams::test {

/// What came back for a request; both empty until something does.
template <class Reply>
struct asked {
  std::optional<Reply> reply;
  std::optional<error> failure;

  [[nodiscard]] bool open() const { return !reply && !failure; }
};

/// An actor system on the calling thread.
class test_system {
public:
  test_system()
    : system_{prepared(config_)},
      scheduler_{
        dynamic_cast<caf::scheduler::test_coordinator&>(system_.scheduler())} {}

  /// Kills the actors that are owned and waits for them, so that none keeps
  /// the system from ending.
  ~test_system() {
    for (const auto& actor : owned_)
      caf::anon_send_exit(actor, caf::exit_reason::kill);
    owned_.clear();
    scheduler_.run();
    scheduler_.clock().cancel_all(); // armed timers hold actors
    while (scheduler_.run() > 0)
      continue;
  }

  test_system(const test_system&) = delete;
  test_system& operator=(const test_system&) = delete;

  [[nodiscard]] caf::actor_system& system() { return system_; }
  [[nodiscard]] caf::scheduler::test_coordinator& scheduler() {
    return scheduler_;
  }

  /// Ends the actor with this system.
  caf::actor own(caf::actor actor) {
    owned_.push_back(actor);
    return actor;
  }

  /// Runs until nobody has anything to do at this time.
  void run() { scheduler_.run(); }

  /// Lets time pass, timer by timer, as it would really pass.
  void advance_by(std::chrono::nanoseconds duration) {
    auto& clock = scheduler_.clock();
    const auto end = clock.now() + duration;
    scheduler_.run();
    while (!clock.schedule().empty()
           && clock.schedule().begin()->first <= end) {
      clock.trigger_timeout();
      scheduler_.run();
    }
    scheduler_.advance_time(end - clock.now());
    scheduler_.run();
  }

  /// Returns how much time has passed.
  [[nodiscard]] std::chrono::nanoseconds now() {
    return scheduler_.clock().now().time_since_epoch();
  }

  /// Sends a request, and runs what can run.
  template <class Reply, class Request>
  std::shared_ptr<asked<Reply>> ask(const caf::actor& whom, Request request) {
    auto result = std::make_shared<asked<Reply>>();
    auto question = std::make_shared<Request>(std::move(request));
    owned_.push_back(system_.spawn([=](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, std::move(*question))
        .then(
          [=](Reply& reply) { result->reply = std::move(reply); },
          [=](const caf::error& e) { result->failure = from_caf_error(e); });
    }));
    run();
    return result;
  }

  /// Returns whether the actor has ended.
  [[nodiscard]] static bool ended(const caf::actor& actor) {
    const auto* control = caf::actor_cast<caf::abstract_actor*>(actor);
    return control->getf(caf::abstract_actor::is_terminated_flag);
  }

private:
  static caf::actor_system_config& prepared(caf::actor_system_config& config) {
    config.set("scheduler.policy", caf::atom("testing"));
    add_sqlstreams_types(config);
    return config;
  }

  caf::actor_system_config config_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& scheduler_;
  std::vector<caf::actor> owned_;
};

/// The same with an installation in memory, whose clock is the virtual one.
class test_node : public test_system {
public:
  explicit test_node(std::uint64_t seed = 1)
    : database_{[this] { return database_now(); }, seed},
      storage_{own(spawn_inline_storage(system(), database_.open()))} {}

  /// The installation; open further sessions on it as other processes would.
  [[nodiscard]] memory_database& database() { return database_; }

  /// The actor that answers storage requests.
  [[nodiscard]] const caf::actor& storage() const { return storage_; }

private:
  timestamp database_now() {
    return timestamp{
      std::chrono::duration_cast<std::chrono::microseconds>(now())};
  }

  memory_database database_;
  caf::actor storage_;
};

/// Gives the answer number `index` of a scripted actor.
struct scripted_answer {
  std::size_t index = 0;
  caf::message reply;
  caf::error failure;
};

/// An actor that only notes requests of one kind and answers when told to, in
/// any order, or never. Answers by hand are given after the next `run`.
template <class Request>
class scripted_actor {
public:
  explicit scripted_actor(test_system& system)
    : log_{std::make_shared<log>()},
      handle_{system.own(system.system().spawn(
        [log = log_](caf::event_based_actor* self) -> caf::behavior {
          return {
            [=](const Request& request) {
              log->requests.push_back(request);
              auto promise =
                caf::response_promise{self->make_response_promise()};
              log->promises.push_back(promise);
              return promise;
            },
            [=](scripted_answer& answer) {
              auto& promise = log->promises.at(answer.index);
              if (answer.failure)
                promise.deliver(std::move(answer.failure));
              else
                promise.deliver(std::move(answer.reply));
            },
          };
        }))} {}

  [[nodiscard]] const caf::actor& handle() const { return handle_; }
  [[nodiscard]] const std::vector<Request>& requests() const {
    return log_->requests;
  }

  template <class Reply>
  void answer(std::size_t index, Reply reply) {
    caf::anon_send(
      handle_, scripted_answer{index, caf::make_message(std::move(reply)), {}});
  }
  void fail(std::size_t index, const error& e) {
    caf::anon_send(handle_, scripted_answer{index, {}, to_caf_error(e)});
  }

private:
  struct log {
    std::vector<Request> requests;
    std::vector<caf::response_promise> promises;
  };

  std::shared_ptr<log> log_;
  caf::actor handle_;
};

} // namespace sqlstreams::test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::test::scripted_answer)
