#pragma once

#include "storage/call_interrupt.hpp"
#include "storage/store.hpp"

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/error.hpp>
#include <caf/message.hpp>
#include <caf/stateful_actor.hpp>

#include <cstdint>
#include <functional>
#include <memory>

namespace sqlstreams {

/// A call to the store with its arguments; returns the reply. Immutable, so
/// that it can be made again.
using bound_call = std::function<caf::message(store&)>;

/// storage pool -> storage worker: make the call once. Answered by a message
/// `call_finished` to the pool.
struct run_call {
  std::uint64_t number = 0;
  std::shared_ptr<const bound_call> call;
  /// Of all calls of this worker; it has begun, and the worker ends it.
  std::shared_ptr<call_interrupt> interrupt;
};

/// storage worker -> storage pool.
struct call_finished {
  std::uint64_t number = 0; ///< of the run_call
  caf::message reply;       ///< valid if there is no failure
  caf::error failure;
};

struct storage_worker_state {
  static inline const char* name = "sqlstreams.storage_worker";
  std::unique_ptr<store> session; ///< opened by the first call
};

/// Makes blocking calls on a session of its own, one at a time. Runs detached:
/// nobody else waits while a call does.
caf::behavior storage_worker(caf::stateful_actor<storage_worker_state>* self,
                             std::shared_ptr<store_factory> factory,
                             caf::actor pool);

/// Makes a call; never throws.
call_finished make_call(store& session, const run_call& what) noexcept;

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::run_call)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::call_finished)
