#pragma once

#include "actors/client.hpp"
#include "apps/demo/account.hpp"
#include "apps/demo/consumer_fleet.hpp"
#include "apps/demo/ledger.hpp"
#include "apps/demo/order.hpp"
#include "apps/demo/progress.hpp"
#include "apps/demo/shop.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams::demo {

/// Thrown when a signal asks the run to end.
struct interrupted {
  int signal = 0;
};

/// Throws `interrupted` if a signal was noted.
void check_interruption();

/// What a live run works with; all of it outlives the run.
struct live_run_parts {
  progress_view& view;
  consumer_fleet& fleet;
  const shop& orders;
  group_handle<order> group;
  std::filesystem::path folder;      ///< of the ledgers
  std::vector<std::int64_t> numbers; ///< of all orders
  bool kill = true;
};

/// Follows a run by its ledgers, kills a consumer half-way, shows all of it.
class live_run {
public:
  explicit live_run(live_run_parts parts);

  /// Goes on until all is settled: every order is produced, the group is
  /// committed up to the head of its stream, and no exception is open.
  /// @throws interrupted; error of producer or database; std::runtime_error if
  ///   a consumer ends by itself or nothing moves any more
  void watch();

  /// Which consumer was killed; empty: none.
  [[nodiscard]] std::optional<int> killed() const noexcept { return killed_; }

  /// From the kill until all that had been claimed before it was settled.
  [[nodiscard]] std::optional<std::chrono::milliseconds>
  recovery() const noexcept {
    return recovery_;
  }

  /// Where the group stands, as last seen.
  [[nodiscard]] const group_lag& lag() const noexcept { return lag_; }

private:
  using clock = std::chrono::steady_clock;

  void read_ledgers();
  void look_at_fleet();
  void look_at_group();
  void kill_busiest();
  void note_movement();
  [[nodiscard]] bool kill_is_due() const;
  [[nodiscard]] bool settled() const;
  [[nodiscard]] progress moment() const;

  live_run_parts parts_;
  account_book book_;
  std::vector<ledger_reader> ledgers_; ///< by consumer
  std::vector<std::size_t> newly_;     ///< lines in the last reading
  rate_meter rate_;
  group_lag lag_{};
  bool group_seen_ = false; ///< `lag_` is of after the last order
  clock::time_point next_look_{};
  std::optional<int> killed_;
  clock::time_point killed_at_{};
  message_id claimed_at_kill_ = 0;
  std::optional<std::chrono::milliseconds> recovery_;
  std::int64_t movement_ = 0;
  clock::time_point moved_at_ = clock::now();
};

} // namespace sqlstreams::demo
