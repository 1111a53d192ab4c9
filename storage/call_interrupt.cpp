#include "storage/call_interrupt.hpp"

#include <utility>

namespace sqlstreams {

void call_interrupt::begin() {
  const std::lock_guard lock{mutex_};
  running_ = true;
  requested_ = false;
}

void call_interrupt::end() {
  const std::lock_guard lock{mutex_};
  running_ = false;
  requested_ = false;
}

void call_interrupt::interrupt() {
  // `how_` is called under the lock: once `forget` has returned, it does not
  // run and never will.
  const std::lock_guard lock{mutex_};
  if (!running_ || std::exchange(requested_, true))
    return;
  if (how_)
    how_();
}

bool call_interrupt::requested() const {
  const std::lock_guard lock{mutex_};
  return requested_;
}

void call_interrupt::end_wait_by(std::function<void()> how) {
  const std::lock_guard lock{mutex_};
  how_ = std::move(how);
  if (requested_ && how_)
    how_();
}

void call_interrupt::forget() { end_wait_by({}); }

} // namespace sqlstreams
