#pragma once

#include "actors/messages.hpp"
#include "actors/session_child.hpp"

#include <caf/stateful_actor.hpp>

#include <vector>

namespace sqlstreams {

struct recorder_state {
  static inline const char* name = "sqlstreams.recorder";
  record_outcomes waiting; ///< for the next settle
  bool settling = false;   ///< one is out
  unsigned failures = 0;   ///< in a row
};

/// Writes outcomes down: one settle at a time, so that whatever comes meanwhile
/// shares the next one. A settle that failed is made again until the leases of
/// its parts are over; one that can never work ends the recorder's work and is
/// told to the session.
caf::behavior recorder(caf::stateful_actor<recorder_state>* self,
                       session_child_args args);

} // namespace sqlstreams
