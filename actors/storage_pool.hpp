#pragma once
// The storage pool behind spawn_storage_pool; open to tests.

#include "actors/answer.hpp"
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
  /// How long running calls may take to end after the pool was told to end.
  std::chrono::nanoseconds exit_grace = std::chrono::seconds{10};
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
    int attempts = 0;
  };

  struct worker {
    caf::actor handle;
    std::optional<std::uint64_t> runs; ///< number of its job
  };

  std::map<std::uint64_t, job> jobs;
  std::uint64_t last_number = 0;
  std::deque<std::uint64_t> ready;
  std::vector<worker> workers;
  std::optional<retry_schedule> retries;
  bool connection_lost = false;
  bool ending = false;
};

caf::behavior storage_pool(caf::stateful_actor<storage_pool_state>* self,
                           storage_pool_args args);

} // namespace sqlstreams
