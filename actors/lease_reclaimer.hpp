#pragma once

#include "actors/messages.hpp"
#include "actors/session_child.hpp"

#include <caf/stateful_actor.hpp>

namespace sqlstreams {

struct lease_reclaimer_state {
  static inline const char* name = "sqlstreams.lease_reclaimer";
  std::minstd_rand random;
  std::shared_ptr<const group_info> group;
  unsigned passes = 0;
  bool failing = false; ///< the last pass failed
};

/// Takes over ranges whose holders vanished, at the start and at each poll, and
/// now and then marks what a crash loop left behind as dead.
caf::behavior lease_reclaimer(caf::stateful_actor<lease_reclaimer_state>* self,
                              session_child_args args);

} // namespace sqlstreams
