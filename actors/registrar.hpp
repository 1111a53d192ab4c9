#pragma once
// The registrar behind spawn_registrar; open to the node.

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>

namespace sqlstreams {

struct registrar_args {
  caf::actor storage;
  std::chrono::nanoseconds deadline{}; ///< of a request to storage
};

struct registrar_state {
  static inline const char* name = "sqlstreams.registrar";
};

/// Checks declarations, has them stored, and logs what they changed. Keeps
/// nothing: the database is the only memory of what is registered.
caf::behavior registrar(caf::stateful_actor<registrar_state>* self,
                        registrar_args args);

} // namespace sqlstreams
