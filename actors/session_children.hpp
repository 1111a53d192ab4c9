#pragma once
// Supervision: a consumer session's children are started, and started again
// when they die.

#include "actors/consumer_session.hpp"

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/fwd.hpp>

#include <array>
#include <cstddef>

namespace sqlstreams {

/// session -> itself: replace a child, or the runner of a slot.
struct child_due {
  session_child which = session_child::recorder;
};
struct runner_due {
  std::size_t slot = 0;
};

/// In the order of starting.
inline constexpr std::array<session_child, session_children> all_children = {
  session_child::recorder, session_child::lease_reclaimer,
  session_child::claimer, session_child::exception_consumer,
  session_child::config_refresher};

/// Starts a child, unless it is too late for it.
void start_child(session_ptr self, const consumer_session_args& args,
                 session_child which);
void start_runner(session_ptr self, const consumer_session_args& args,
                  std::size_t slot);

/// An actor is down: if it was a child, what it had is taken back and it is
/// replaced soon.
void went_down(session_ptr self, const consumer_session_args& args,
               const caf::down_msg& down);

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::child_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::runner_due)
