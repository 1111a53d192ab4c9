// Storage for stores that do not block: the same calls, made by the actor that
// is asked.

#include "actors/error_transport.hpp"
#include "actors/spawn.hpp"
#include "actors/storage_calls.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace sqlstreams {

namespace {

struct inline_storage_state {
  static inline const char* name = "sqlstreams.inline_storage";
  std::unique_ptr<store> session;
};

using inline_ptr = caf::stateful_actor<inline_storage_state>*;

caf::behavior inline_storage(inline_ptr self,
                             std::shared_ptr<std::unique_ptr<store>> session) {
  self->state.session = std::move(*session);
  return storage_behavior([=](const auto& call) {
    using request = typename std::decay_t<decltype(call)>::request;
    using reply =
      decltype(call.run(*self->state.session, std::declval<const request&>()));
    return [=](const request& what) -> caf::result<reply> {
      try {
        return call.run(*self->state.session, what);
      } catch (...) {
        return current_exception_to_caf_error(code::actor_failed);
      }
    };
  });
}

} // namespace

caf::actor spawn_inline_storage(caf::actor_system& system,
                                std::unique_ptr<store> session) {
  // CAF copies the arguments of a spawn.
  return system.spawn(inline_storage, std::make_shared<std::unique_ptr<store>>(
                                        std::move(session)));
}

} // namespace sqlstreams
