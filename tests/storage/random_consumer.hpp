#pragma once
// A consumer that does at random whatever consumers may do, vanishing included.

#include "tests/storage/postgres_installation.hpp"

#include <memory>
#include <random>
#include <string>
#include <vector>

namespace sqlstreams::test {

/// Claims, takes over, settles in every way, forgets what it holds under a
/// short lease, and looks whether promises are kept. One thread's own.
class random_consumer {
public:
  random_consumer(const postgres_installation& system, unsigned seed);

  /// Does one thing.
  void step();

  /// Settles all that is held as done.
  void finish();

  /// Claims what there is and settles it as done.
  void drain();

  /// Returns the ids of all messages it was given, once for each time.
  [[nodiscard]] const std::vector<message_id>& delivered() const noexcept {
    return delivered_;
  }

  /// Returns the ids whose outcome `done` was recorded, by its account.
  [[nodiscard]] const std::vector<message_id>& done() const noexcept {
    return done_;
  }

  /// Returns what it saw that must not be.
  [[nodiscard]] const std::vector<std::string>& complaints() const noexcept {
    return complaints_;
  }

private:
  /// A range that may still be ours.
  struct held_range {
    lease_token token{};
    id_range range{}; ///< what is not resolved
    std::vector<message_id> ids{};
    bool may_vanish = false; ///< its lease is short
  };
  struct held_run {
    claimed_exception run{};
    bool may_vanish = false;
  };

  unsigned pick(unsigned below) { return random_() % below; }
  void claim();
  void reclaim();
  void take(const claimed_range& claimed, bool may_vanish);
  void claim_exceptions();
  void end_range();
  void end_run();
  void kill();
  void look();

  void finish_range(held_range& held, bool with_failures);
  void resolve_part(held_range& held, unresolved_rest rest);
  exception_entry random_failure(message_id id);
  bool settle(const range_settlement& part, bool is_last);
  void settle(const claimed_exception& run, outcome_kind outcome);
  settle_result send(const settle_request& request);
  settle_request empty_settlement() const;
  void complain(std::string what) { complaints_.push_back(std::move(what)); }

  std::mt19937 random_;
  const postgres_installation& system_;
  std::unique_ptr<store> session_;
  hand hand_;
  std::vector<held_range> ranges_;
  std::vector<held_run> runs_;
  std::vector<message_id> delivered_;
  std::vector<message_id> done_;
  std::vector<std::string> complaints_;
  message_id committed_ = 0;
};

} // namespace sqlstreams::test
