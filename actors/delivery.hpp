#pragma once

#include "actors/outcome.hpp"
#include "config/resolve.hpp"
#include "storage/message.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

namespace sqlstreams {

/// One run of a handler: the message and all that is known about the run.
/// Valid during the call only. Used by the handler's thread alone.
struct delivery {
  const sqlstreams::message& message; ///< as stored
  const std::string& stream;          ///< name
  const std::string& group;           ///< name
  std::int64_t attempt = 0;           ///< zero-based
  std::int64_t delays = 0;            ///< runs put off by the handler so far
  resolved_options options{};         ///< what applies to this run
  /// When the run is over time; the stop token fires then.
  std::chrono::steady_clock::time_point deadline{};
  /// Asks the handler to come to an end: over time, lease lost, or shutdown's
  /// budget used up.
  std::stop_token stop{};
};

/// User code that handles messages on a thread of its own. May block and may
/// throw; called by as many threads at once as the consume options allow.
using message_handler = std::function<outcome(delivery&)>;

} // namespace sqlstreams
