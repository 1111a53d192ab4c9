#include "actors/storage_worker.hpp"

#include "actors/error_transport.hpp"
#include "storage/interruptible_factory.hpp"

#include <caf/event_based_actor.hpp>

namespace sqlstreams {

call_finished make_call(store& session, const run_call& what) noexcept {
  try {
    return {what.number, (*what.call)(session), {}};
  } catch (...) {
    // What is no `error` is a defect, met at any point of the call: nobody
    // knows what was done.
    return {
      what.number, {}, current_exception_to_caf_error(code::actor_failed)};
  }
}

namespace {

call_finished open_and_call(storage_worker_state& state, store_factory& factory,
                            const run_call& what) {
  if (!state.session) {
    try {
      state.session = open_session(factory, what.interrupt);
    } catch (...) {
      return {
        what.number, {}, current_exception_to_caf_error(code::actor_failed)};
    }
  }
  return make_call(*state.session, what);
}

} // namespace

caf::behavior storage_worker(caf::stateful_actor<storage_worker_state>* self,
                             std::shared_ptr<store_factory> factory,
                             caf::actor pool) {
  // A pool that is killed tells nobody.
  self->monitor(pool);
  self->set_down_handler([=](const caf::down_msg&) { self->quit(); });
  return {
    // from the pool
    [=](const run_call& what) {
      auto result = open_and_call(self->state, *factory, what);
      what.interrupt->end();
      self->send(pool, std::move(result));
    },
  };
}

} // namespace sqlstreams
