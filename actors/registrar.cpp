#include "actors/registrar.hpp"

#include "actors/answer.hpp"
#include "actors/error_transport.hpp"
#include "actors/keyed_policy.hpp"
#include "actors/log.hpp"
#include "actors/messages.hpp"
#include "actors/milliseconds.hpp"
#include "actors/retry_schedule.hpp"
#include "actors/spawn.hpp"
#include "config/names.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>

namespace sqlstreams {

namespace {

using registrar_ptr = caf::stateful_actor<registrar_state>*;

void check(const register_system_request&) {}

void check(const stream_declaration_request& declared) {
  validate_name(name_kind::stream, declared.name);
  validate_or_throw(declared.config, "stream " + declared.name);
}

void check(const group_declaration_request& declared) {
  validate_name(name_kind::group, declared.name);
  validate_or_throw(declared.config, "group " + declared.name);
  refuse_keyed_policy(declared.config, "group " + declared.name);
}

void note(const system_registration& result) {
  if (result.effect == registration_effect::created)
    log_note(log_level::info, "installation created",
             {field("version", result.system.version)});
}

void note(const stream_registration& result) {
  const auto name = field("stream", result.stream.name);
  switch (result.effect) {
  case registration_effect::created:
    return log_note(log_level::info, "stream created", {name});
  case registration_effect::updated:
    return log_event(code::stream_config_replaced, log_level::info,
                     "stream updated",
                     {name, field("changes", result.changes)});
  case registration_effect::unchanged:
    return log_note(log_level::debug, "stream unchanged", {name});
  }
}

void note(const group_registration& result) {
  const auto stream = field("stream_id", result.group.stream);
  const auto name = field("group", result.group.name);
  switch (result.effect) {
  case registration_effect::created:
    return log_note(log_level::info, "group created", {stream, name});
  case registration_effect::updated:
    return log_event(code::group_config_replaced, log_level::info,
                     "group updated",
                     {stream, name, field("changes", result.changes)});
  case registration_effect::unchanged:
    return log_note(log_level::debug, "group unchanged", {stream, name});
  }
}

template <class Reply, class Request>
caf::response_promise store_declaration(registrar_ptr self,
                                        const registrar_args& args,
                                        Request declared) {
  auto promise = caf::response_promise{self->make_response_promise()};
  auto owed = std::make_shared<answer>(promise);
  try {
    check(declared);
  } catch (...) {
    owed->give(current_exception_to_caf_error(code::invalid_option));
    return promise;
  }
  self
    ->request(args.storage, milliseconds_for(args.deadline),
              std::move(declared))
    .then(
      [owed](Reply& result) {
        note(result);
        owed->give(std::move(result));
      },
      [owed](caf::error& e) { owed->give(std::move(e)); });
  return promise;
}

} // namespace

caf::behavior registrar(registrar_ptr self, registrar_args args) {
  return {
    [=](register_system_request& declared) {
      return store_declaration<system_registration>(self, args,
                                                    std::move(declared));
    },
    [=](stream_declaration_request& declared) {
      return store_declaration<stream_registration>(self, args,
                                                    std::move(declared));
    },
    [=](group_declaration_request& declared) {
      return store_declaration<group_registration>(self, args,
                                                   std::move(declared));
    },
  };
}

caf::actor spawn_registrar(caf::actor_system& system, caf::actor storage) {
  return system.spawn(registrar,
                      registrar_args{std::move(storage), storage_deadline({})});
}

} // namespace sqlstreams
