#include "apps/sqlstreams/standard_output.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace sqlstreams {

namespace {

/// Of the first write that failed; 0: none did.
std::atomic<int> why_failed = 0;

} // namespace

bool write_out(std::string_view text) {
  // Without this a reader that went away would end the process before it could
  // hand back what it holds.
  static const auto ignored = std::signal(SIGPIPE, SIG_IGN);
  static_cast<void>(ignored);
  while (!text.empty()) {
    const auto written = ::write(STDOUT_FILENO, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      // Whoever shares the descriptor may have made it non-blocking.
      pollfd wanted{STDOUT_FILENO, POLLOUT, 0};
      ::poll(&wanted, 1, -1);
    } else if (errno != EINTR) {
      int none = 0;
      why_failed.compare_exchange_strong(none, errno);
      return false;
    }
  }
  return true;
}

std::optional<error> output_failure() {
  const int why = why_failed;
  if (why == 0 || why == EPIPE)
    return std::nullopt;
  return error{output_failed,
               std::string{"standard output: "} + std::strerror(why)};
}

std::size_t output_width() {
  winsize size{};
  if (::isatty(STDOUT_FILENO) == 0
      || ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0)
    return 0;
  return size.ws_col;
}

bool shows_progress() { return ::isatty(STDERR_FILENO) != 0; }

} // namespace sqlstreams
