#include "apps/demo/progress.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include <sys/ioctl.h>
#include <unistd.h>

namespace sqlstreams::demo {

namespace {

using std::chrono::steady_clock;

std::size_t terminal_columns() {
  struct winsize size {};
  const bool known =
    ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

double share_done(const progress& now) {
  return now.total == 0
           ? 1.0
           : static_cast<double>(now.handled) / static_cast<double>(now.total);
}

/// Short: with bar and note it has to fit a line of 80 columns.
std::string numbers(const progress& now) {
  const auto counts =
    now.produced < now.total
      ? fmt::format("produced {}  handled {}", now.produced, now.handled)
      : fmt::format("handled {} of {}", now.handled, now.total);
  return fmt::format("{}  in flight {}  {:.0f}/s", counts, now.in_flight,
                     now.rate);
}

std::string bar(double share, std::size_t width) {
  const auto filled = std::min(
    width, static_cast<std::size_t>(share * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

} // namespace

std::string render_bar(const progress& now, std::size_t columns) {
  constexpr std::size_t shortest = 10;
  constexpr std::size_t longest = 30;
  const auto share = share_done(now);
  auto words = fmt::format(" {:3.0f}%  {}", share * 100, numbers(now));
  if (!now.note.empty())
    words += "  " + now.note;
  const auto taken = words.size() + 2;
  const auto room = columns > taken ? columns - taken : 0;
  auto line =
    '[' + bar(share, std::clamp(room, shortest, longest)) + ']' + words;
  line.resize(std::min(line.size(), columns));
  return line;
}

std::string render_plain(const progress& now) {
  auto line = numbers(now);
  if (!now.note.empty())
    line += "  " + now.note;
  return line;
}

void rate_meter::note(time at, std::size_t count) {
  samples_.push_back({at, count});
  while (samples_.front().at < at - std::chrono::seconds{2})
    samples_.pop_front();
}

double rate_meter::per_second() const noexcept {
  if (samples_.empty())
    return 0;
  const auto& first = samples_.front();
  const auto& last = samples_.back();
  const std::chrono::duration<double> took = last.at - first.at;
  return took.count() > 0
           ? static_cast<double>(last.count - first.count) / took.count()
           : 0;
}

progress_view::progress_view() : terminal_{::isatty(STDOUT_FILENO) == 1} {}

void progress_view::show(const progress& now) {
  if (terminal_) {
    drawn_ = render_bar(now, terminal_columns() - 1);
    std::cout << '\r' << drawn_ << "\x1b[K" << std::flush;
    return;
  }
  const auto at = steady_clock::now();
  if (at - last_plain_ < std::chrono::seconds{1})
    return;
  last_plain_ = at;
  say(render_plain(now));
}

void progress_view::say(std::string_view text) {
  if (!drawn_.empty())
    std::cout << "\r\x1b[K";
  std::cout << "demo: " << text << '\n' << drawn_ << std::flush;
}

void progress_view::finish() {
  if (!drawn_.empty())
    std::cout << '\n' << std::flush;
  drawn_.clear();
}

} // namespace sqlstreams::demo
