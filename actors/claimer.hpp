#pragma once

#include "actors/messages.hpp"
#include "actors/session_child.hpp"

#include <caf/stateful_actor.hpp>

#include <optional>

namespace sqlstreams {

struct claimer_state {
  static inline const char* name = "sqlstreams.claimer";
  std::minstd_rand random;
  std::shared_ptr<const group_info> group;
  bool failing = false;           ///< the last claim failed
  message_id held_up_at = 0;      ///< id that claims wait for; 0: none
  monotonic_time held_up_since{}; ///< when it was seen first
  bool held_up_reported = false;
  int held_up_polls = 0; ///< in a row, at the id that claims wait for
};

/// Claims fresh messages: one claim at a time, again at once while there is
/// more, else at the poll rate.
caf::behavior claimer(caf::stateful_actor<claimer_state>* self,
                      session_child_args args);

} // namespace sqlstreams
