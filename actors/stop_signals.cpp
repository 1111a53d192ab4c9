#include "actors/stop_signals.hpp"

#include "actors/live_sessions.hpp"
#include "actors/running_commands.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <unistd.h>

namespace sqlstreams {

namespace {

/// The writing end of the pipe from the handler to the thread.
volatile int signal_pipe = -1;

extern "C" void forward_signal(int number) {
  const int saved = errno;
  const auto byte = static_cast<unsigned char>(number);
  [[maybe_unused]] const auto written = ::write(signal_pipe, &byte, 1);
  errno = saved;
}

int next_signal(int reading_end) {
  unsigned char byte = 0;
  while (::read(reading_end, &byte, 1) != 1)
    continue; // interrupted; the pipe never closes
  return byte;
}

// A pipe and a handler instead of sigwait: the threads of the process exist
// already, and none of them blocks the signals.
int install() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe2"};
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  signal_pipe = ends[1];
  struct sigaction action {};
  action.sa_handler = forward_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(SIGTERM, &action, nullptr);
  ::sigaction(SIGINT, &action, nullptr);
  return ends[0];
}

std::stop_source start_thread() {
  std::stop_source stop;
  const int reading_end = install();
  std::thread{[=]() mutable {
    next_signal(reading_end);
    stop.request_stop();
    const int second = next_signal(reading_end);
    live_sessions::wait_for_last(std::chrono::milliseconds{500});
    running_commands::kill_all();
    ::_exit(128 + second);
  }}.detach(); // waits for signals as long as the process lives
  return stop;
}

} // namespace

std::stop_token stop_on_signals() {
  // Never destroyed: its thread outlives main.
  static const auto* source = new std::stop_source{start_thread()};
  return source->get_token();
}

} // namespace sqlstreams
