#pragma once
// The consumer session behind spawn_consumer_session; open to tests.

#include "actors/abandoned_runs.hpp"
#include "actors/answer.hpp"
#include "actors/claim_batch.hpp"
#include "actors/consume_spec.hpp"
#include "actors/dispatch_queue.hpp"
#include "actors/handler_pace.hpp"
#include "actors/messages.hpp"
#include "actors/owned_actor.hpp"
#include "actors/range_tracker.hpp"
#include "actors/run_allowance.hpp"
#include "actors/runner.hpp"
#include "actors/session_totals.hpp"

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

struct consumer_session_args {
  caf::actor storage;
  consume_spec spec; ///< checked; options and group settings with defaults
  caf::actor owner;  ///< receives session_ended; may be none
  runner_factory start_runner;
};

/// The children that are there once each.
enum class session_child : std::uint8_t {
  recorder,
  lease_reclaimer,
  claimer,
  exception_consumer,
  config_refresher,
};
inline constexpr std::size_t session_children = 5;

/// running --(asked to stop, used up, cannot go on)--> stopping
/// stopping --(all recorded, or budget used up)--> ending
/// ending --(all children ended)--> gone
enum class session_phase : std::uint8_t { running, stopping, ending };

struct consumer_session_state {
  static inline const char* name = "sqlstreams.consumer_session";

  struct child {
    owned_actor actor;
    unsigned failures = 0; ///< times it was restarted
    /// It waits to be granted a claim of so many messages (or slots).
    std::optional<std::size_t> wants{};
    /// It was granted so many and has not said yet what came of it.
    std::optional<std::size_t> granted{};
  };

  struct runner {
    owned_actor actor;
    unsigned failures = 0;
    std::uint64_t chunk = 0; ///< number of the one under way
    std::shared_ptr<const std::vector<run_item>> items; ///< empty: idle
    bool occupied = false; ///< by an abandoned handler
  };

  struct recordable_exception {
    pending_exception pending;
    bool sent = false; ///< to the recorder
  };

  session_phase phase = session_phase::running;
  std::shared_ptr<const group_info> group;
  bool paused = false;
  bool reclaimed_once = false; ///< a first look for expired ranges was made
  std::array<child, session_children> children;
  std::vector<runner> runners;
  std::uint64_t last_chunk = 0;
  std::shared_ptr<abandoned_runs> abandoned;

  range_tracker tracker;
  dispatch_queue queue{{}};
  claim_batch batch{{}};
  handler_pace pace;
  run_allowance allowance;

  std::size_t open_exceptions = 0; ///< claimed, and not ended
  std::map<std::uint64_t, recordable_exception> ended_exceptions;
  std::uint64_t last_exception = 0;

  bool progress_timer = false;
  session_totals totals;
  std::optional<error> why_ended;
  std::vector<std::unique_ptr<answer>> askers; ///< of stop_consuming

  [[nodiscard]] bool is_ending() const noexcept {
    return phase == session_phase::ending;
  }

  child& operator[](session_child which) {
    return children[static_cast<std::size_t>(which)];
  }
};

using session_ptr = caf::stateful_actor<consumer_session_state>*;

/// Consumes a group: supervises those who claim, run and record, and decides
/// what happens next.
caf::behavior consumer_session(session_ptr self, consumer_session_args args);

/// Checks what is to be consumed and fills in defaults.
/// @throws error keyed_policy_unsupported, invalid_option,
///   invalid_schema_version
consume_spec checked_spec(consume_spec spec);

} // namespace sqlstreams
