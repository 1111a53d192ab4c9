#pragma once

#include <caf/actor.hpp>

#include <chrono>
#include <memory>
#include <vector>

namespace sqlstreams {

/// The actors that somebody who is no actor owns: keeps them alive, forgets
/// those that end, and ends the rest within a bound. Thread-safe.
class roster {
public:
  roster();
  ~roster();
  roster(const roster&) = delete;
  roster& operator=(const roster&) = delete;

  void add(const caf::actor& member);

  /// Asks all members to exit.
  void end_all();

  /// Waits until no member is left.
  /// @returns false if some were at that time
  bool wait_until_empty(std::chrono::steady_clock::time_point time);

private:
  struct members;
  std::shared_ptr<members> members_;
};

} // namespace sqlstreams
