#pragma once

#include "actors/messages.hpp"
#include "actors/session_child.hpp"

#include <caf/stateful_actor.hpp>

namespace sqlstreams {

struct config_refresher_state {
  static inline const char* name = "sqlstreams.config_refresher";
  std::minstd_rand random;
  std::shared_ptr<const group_info> group; ///< as last told to the session
  bool failing = false;
};

/// Rereads the group's settings and tells the session when they have changed.
/// A group that is gone ends the session.
caf::behavior
config_refresher(caf::stateful_actor<config_refresher_state>* self,
                 session_child_args args);

} // namespace sqlstreams
