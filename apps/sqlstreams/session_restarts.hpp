#pragma once

#include "config/configuration.hpp"
#include "config/diagnostic.hpp"
#include "config/retry_policy.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

namespace sqlstreams {

/// Decides what follows when a node's session ends by an error. Pure: time is
/// handed in.
///
/// | on_session_end | recovery             | what follows                   |
/// | -------------- | -------------------- | ------------------------------ |
/// | restart        | transient or unknown | again after a growing pause    |
/// | restart        | permanent            | the node ends: it would recur  |
/// | stop           | any                  | the node ends                  |
class session_restarts {
public:
  /// @param curve of the pauses; unset fields take the defaults, attempts are
  ///   not counted
  explicit session_restarts(session_end_action action, retry_policy curve = {});

  /// A session ended by an error after it had lived so long.
  /// @returns the pause before the next one; empty: the node ends
  std::optional<std::chrono::nanoseconds>
  ended(recovery recover, std::chrono::nanoseconds lifetime);

private:
  session_end_action action_;
  retry_policy curve_;
  std::int64_t failures_ = 0; ///< since a session that lived long
};

} // namespace sqlstreams
