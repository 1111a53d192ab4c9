#pragma once
// The storage pool behind spawn_storage_pool; open to tests.

#include "actors/answer.hpp"
#include "actors/call_times.hpp"
#include "actors/retry_schedule.hpp"
#include "actors/spawn.hpp"
#include "actors/storage_worker.hpp"

#include <caf/actor.hpp>
#include <caf/stateful_actor.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

struct storage_pool_args {
  storage_pool_options options{};
  /// Starts a worker that is monitored by the pool, its first argument.
  std::function<caf::actor(caf::event_based_actor*)> start_worker;
  /// How long running calls may take to end after the pool was told to end;
  /// whoever could wait longer ends before the pool. Then they are interrupted.
  std::chrono::nanoseconds exit_grace = std::chrono::seconds{2};
  /// How long interrupted calls are waited for at the end.
  std::chrono::nanoseconds interrupt_grace = std::chrono::seconds{2};
  /// How often the pool looks for calls that are over their time.
  std::chrono::nanoseconds watch_rate = std::chrono::seconds{1};
  /// Before a worker that died is replaced.
  std::chrono::nanoseconds replace_delay = std::chrono::milliseconds{200};
};

struct storage_pool_state {
  static inline const char* name = "sqlstreams.storage_pool";

  /// A request that is not answered yet: waiting in `ready`, running on a
  /// worker, or sleeping until its next attempt.
  struct job {
    std::unique_ptr<answer> owed;
    std::shared_ptr<const bound_call> call;
    repeatability repeat = repeatability::never;
    std::chrono::nanoseconds begin_within{};
    monotonic_time begin_before{}; ///< no attempt begins later
    std::chrono::nanoseconds attempt_limit{};
    int attempts = 0;
  };

  struct worker {
    caf::actor handle;
    std::optional<std::uint64_t> runs{}; ///< number of its job
    monotonic_time over_time_at{};       ///< the attempt is interrupted then
    std::shared_ptr<call_interrupt> interrupt =
      std::make_shared<call_interrupt>();
  };

  std::map<std::uint64_t, job> jobs;
  std::uint64_t last_number = 0;
  std::deque<std::uint64_t> ready;
  std::vector<worker> workers;
  std::optional<retry_schedule> retries;
  bool connection_lost = false;
  bool watching = false; ///< a look at the clock is due
  bool ending = false;
};

caf::behavior storage_pool(caf::stateful_actor<storage_pool_state>* self,
                           storage_pool_args args);

} // namespace sqlstreams
