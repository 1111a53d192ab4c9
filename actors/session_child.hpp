#pragma once
// What a consumer session's children have in common.

#include "config/consume_options.hpp"
#include "config/error.hpp"
#include "config/stream_config.hpp"
#include "storage/registration.hpp"

#include <caf/actor.hpp>
#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <string>

namespace sqlstreams {

/// What a child of a consumer session is given.
struct session_child_args {
  caf::actor session;
  caf::actor storage;
  std::string stream; ///< name, for the log
  /// As known when the child starts, with defaults; replaced by group_changed.
  std::shared_ptr<const group_info> group;
  int schema_version = 1;
  consume_options options{}; ///< with defaults
  delivery_log_mode history = delivery_log_mode::failures;
  std::string holder{};   ///< instance name
  std::uint32_t seed = 1; ///< of jitter
};

/// Returns the pause until the next poll: the rate, a tenth longer or shorter,
/// so that instances that started together do not poll together.
std::chrono::nanoseconds with_jitter(std::chrono::nanoseconds rate,
                                     std::minstd_rand& random);

/// Tells the session that it cannot go on.
void fail_session(caf::event_based_actor* self, const caf::actor& session,
                  const error& why);

/// Returns whether a failed request may be made again.
bool may_ask_again(const error& why) noexcept;

} // namespace sqlstreams
