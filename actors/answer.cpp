#include "actors/answer.hpp"

#include "actors/error_transport.hpp"

namespace sqlstreams {

answer::~answer() {
  if (!promise_.pending())
    return;
  try {
    promise_.deliver(to_caf_error(
      error{code::actor_failed, recovery::unknown,
            "the actor ended before it answered; what was asked for may have "
            "been done"}));
  } catch (...) {
    // Out of memory: the asker's deadline has to do.
  }
}

} // namespace sqlstreams
