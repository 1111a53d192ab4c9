#pragma once

#include <csignal>

namespace sqlstreams {

/// Makes SIGTERM and SIGINT wait while it lives: which command they concern, so
/// whether they end the process at once or in order, is not known yet.
class held_signals {
public:
  held_signals() {
    sigset_t held;
    sigemptyset(&held);
    sigaddset(&held, SIGTERM);
    sigaddset(&held, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &held, &before_);
  }
  ~held_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  held_signals(const held_signals&) = delete;
  held_signals& operator=(const held_signals&) = delete;

private:
  sigset_t before_;
};

} // namespace sqlstreams
