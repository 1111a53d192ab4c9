#pragma once

#include "actors/messages.hpp"
#include "actors/owned_actor.hpp"
#include "actors/runner.hpp"
#include "actors/session_child.hpp"

#include <caf/stateful_actor.hpp>

#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

struct exception_consumer_args {
  session_child_args common;
  runner_factory start_runner;
  std::shared_ptr<abandoned_runs> abandoned;
};

struct exception_consumer_state {
  static inline const char* name = "sqlstreams.exception_consumer";

  struct running_exception {
    std::uint64_t chunk = 0;
    claimed_exception claimed;
    resolved_options options{};
    monotonic_time lease_end{};
  };
  struct slot {
    owned_actor runner;
    std::optional<running_exception> running;
    bool occupied = false; ///< by an abandoned handler
  };

  std::minstd_rand random;
  std::shared_ptr<const group_info> group;
  std::vector<slot> slots;
  std::uint64_t last_chunk = 0;
  bool asked = false;      ///< for a grant, or claiming
  bool poll_set = false;   ///< a poll is due some time
  bool maybe_more = false; ///< the last claim found all it could take
  bool finishing = false;
  bool failing = false;
};

/// Runs due exceptions, oldest first, on slots of its own: claims them only
/// when a slot is free, so that a crash charges an attempt to nothing but what
/// was running.
caf::behavior
exception_consumer(caf::stateful_actor<exception_consumer_state>* self,
                   exception_consumer_args args);

} // namespace sqlstreams
