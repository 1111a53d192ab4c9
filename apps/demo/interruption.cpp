#include "apps/demo/interruption.hpp"

#include <csignal>
#include <initializer_list>

namespace sqlstreams::demo {

namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int number) { noted = number; }

} // namespace

void watch_interruptions() {
  struct sigaction action {};
  action.sa_handler = note_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGINT, SIGTERM, SIGHUP})
    ::sigaction(number, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

int interruption() noexcept { return noted; }

} // namespace sqlstreams::demo
