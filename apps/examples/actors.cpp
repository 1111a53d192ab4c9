// Actors: SQLStreams as actors in an actor system of one's own. The handler is
// an actor, too; everything is a message.
//
//   export SQLSTREAMS_DATABASE_URL=$(sqlstreams dev url)
//   example_actors
#include "actors/error_transport.hpp"
#include "actors/messages.hpp"
#include "actors/spawn.hpp"
#include "apps/examples/environment.hpp"
#include "storage/postgres/postgres_store.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

using namespace std::chrono_literals;

namespace {

constexpr std::size_t readings = 5;
constexpr auto patience = 30s;

struct thermometer_state {
  double highest = 0;
};

/// A handler actor: answers each delivery with an outcome. It handles one
/// message after the other, so its state needs no lock.
caf::behavior watch_temperature(caf::stateful_actor<thermometer_state>* self) {
  return {
    [=](const sqlstreams::deliver& delivery) {
      const auto& payload = delivery.message->payload;
      const double degrees = std::stod(payload.substr(payload.find(':') + 1));
      auto& highest = self->state.highest;
      highest = std::max(highest, degrees);
      std::cout << "message " << delivery.message->id << " of "
                << delivery.stream << ": " << degrees << " degrees, highest "
                << highest << '\n';
      return sqlstreams::done();
    },
    // Asks for an answer that is overdue; this one answers at once anyway.
    [](const sqlstreams::stop_delivery&) {},
  };
}

/// Whoever spawns an actor ends it: in reverse order, also when something was
/// thrown, since an actor system waits for the last of its actors.
class owned_actors {
public:
  owned_actors() = default;
  owned_actors(const owned_actors&) = delete;
  owned_actors& operator=(const owned_actors&) = delete;
  ~owned_actors() {
    for (auto actor = actors_.rbegin(); actor != actors_.rend(); ++actor)
      caf::anon_send_exit(*actor, caf::exit_reason::user_shutdown);
  }

  caf::actor add(caf::actor actor) {
    actors_.push_back(actor);
    return actor;
  }

private:
  std::vector<caf::actor> actors_;
};

/// Asks an actor and waits; for code outside of actors only.
template <class Reply, class Request>
Reply ask(caf::scoped_actor& self, const caf::actor& whom, Request request) {
  Reply answer{};
  self->request(whom, patience, std::move(request))
    .receive([&](Reply& reply) { answer = std::move(reply); },
             [](const caf::error& e) { throw sqlstreams::from_caf_error(e); });
  return answer;
}

std::vector<sqlstreams::new_message> make_readings() {
  std::vector<sqlstreams::new_message> made(readings);
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].payload = R"({"degrees":)" + std::to_string(20 + i) + "}";
    made[i].message_key = "greenhouse";
  }
  return made;
}

/// Waits until the session says it has ended.
sqlstreams::session_ended wait_for_end(caf::scoped_actor& self) {
  sqlstreams::session_ended ended;
  self->receive([&](sqlstreams::session_ended& e) { ended = std::move(e); },
                caf::after(patience) >>
                  [] { throw std::runtime_error("the session did not end"); });
  return ended;
}

int run() {
  caf::actor_system_config config;
  sqlstreams::add_sqlstreams_types(config);
  caf::actor_system system{config};
  caf::scoped_actor self{system};

  // Makes the installation's tables, or finds them. A wrong address fails
  // here, before anything is started.
  const auto factory = sqlstreams::make_postgres_factory(
    {.url = from_environment("SQLSTREAMS_DATABASE_URL"),
     .schema = from_environment("SQLSTREAMS_SCHEMA", "sqlstreams")});
  factory->open()->register_system();

  // Storage first: everybody else works through it.
  owned_actors owned;
  const auto storage = owned.add(
    sqlstreams::spawn_storage_pool(system, factory, {.max_connections = 4}));
  const auto registrar =
    owned.add(sqlstreams::spawn_registrar(system, storage));

  // Declarations are requests to the registrar.
  const auto stream =
    ask<sqlstreams::stream_registration>(
      self, registrar,
      sqlstreams::stream_declaration_request{.name = "greenhouse.readings"})
      .stream;
  const auto group = ask<sqlstreams::group_registration>(
                       self, registrar,
                       sqlstreams::group_declaration_request{
                         .stream = stream.id, .name = "thermometer"})
                       .group;
  std::cout << "stream " << stream.name << " and group " << group.name
            << " are registered\n";

  // A producer is an actor; this batch is one transaction.
  const auto producer =
    owned.add(sqlstreams::spawn_producer(system, storage, stream, {}));
  const auto stored = ask<sqlstreams::produce_reply>(
    self, producer, sqlstreams::produce_messages{make_readings(), true});
  std::cout << "produced " << stored.messages.size() << " readings\n";

  // The session hands each message to the handler actor. It ends by itself
  // after as many as the group had to catch up with.
  const auto lag = ask<sqlstreams::group_lag>(
    self, storage, sqlstreams::lag_request{stream.id, group.id});
  const auto handler = owned.add(system.spawn(watch_temperature));
  sqlstreams::consume_spec spec;
  spec.stream = stream;
  spec.group = group;
  spec.handler = handler;
  spec.instance = "example";
  spec.max_messages = static_cast<std::size_t>(lag.backlog);
  owned.add(sqlstreams::spawn_consumer_session(
    system, storage, std::move(spec), caf::actor_cast<caf::actor>(self)));
  const auto ended = wait_for_end(self);
  std::cout << "done: " << ended.totals.success << " readings handled\n";
  return ended.reason.empty() ? 0 : 1;
}

} // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
