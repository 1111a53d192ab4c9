#pragma once
// The end of a consumer session, in order or not.

#include "actors/consumer_session.hpp"

#include <caf/allowed_unsafe_message_type.hpp>

#include <chrono>
#include <optional>

namespace sqlstreams {

/// session -> itself: a step of the shutdown is due.
struct stop_handlers_due {
  std::chrono::nanoseconds grace{};
};
struct shutdown_over {};

/// Begins the shutdown; does nothing if it has begun.
void begin_stop(session_ptr self, const consumer_session_args& args,
                std::optional<error> why = {});

/// Returns whether nothing runs and all is recorded.
bool all_done(const consumer_session_state& state);

/// The handlers have had their time.
void stop_handlers_now(session_ptr self, stop_handlers_due due);

/// The time for shutting down is over.
void give_up_recording(session_ptr self, const consumer_session_args& args);

/// Nothing can be recorded any more: ends without waiting for anybody.
void end_unrecorded(session_ptr self, const consumer_session_args& args,
                    const error& why);

/// Ends the children; the session ends with the last of them.
void end_children(session_ptr self, const consumer_session_args& args);

/// Ends the session if its children have ended.
/// @pre they were told to
void quit_if_alone(session_ptr self, const consumer_session_args& args);

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::stop_handlers_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::shutdown_over)
