#pragma once

#include <functional>
#include <mutex>

namespace sqlstreams {

/// Ends, from another thread, a call to a store that waits for a server which
/// does not answer. Shared by a session and whoever watches over its calls.
///
/// An interrupted call fails like one whose connection was lost: its error says
/// whether something may have been done. For the rest of that call the session
/// waits for nothing more; the next call is not concerned. Thread-safe.
class call_interrupt {
public:
  /// A call is about to be made.
  void begin();

  /// It has returned. Between calls `interrupt` does nothing, so that one which
  /// comes late cannot hit what it was not meant for.
  void end();

  /// Interrupts the call that is being made, if one is.
  void interrupt();

  /// Returns whether the present call was interrupted.
  [[nodiscard]] bool requested() const;

  /// The session: how what it waits for is ended; at once if the call was
  /// interrupted before. Stays until it is replaced, or forgotten.
  /// @param how called from another thread, must neither block nor throw, nor
  ///   use this object
  void end_wait_by(std::function<void()> how);
  void forget();

private:
  mutable std::mutex mutex_;
  bool running_ = false;
  bool requested_ = false;
  std::function<void()> how_;
};

} // namespace sqlstreams
