#include "apps/sqlstreams/line_source.hpp"

#include "config/error.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <poll.h>
#include <unistd.h>

namespace sqlstreams {

line_source::line_source(int fd, std::size_t limit_bytes)
  : fd_{fd}, limit_{limit_bytes} {}

bool line_source::fill() {
  static constexpr std::size_t chunk = 64u << 10;
  buffer_.resize(chunk);
  at_ = 0;
  for (;;) {
    const auto size = ::read(fd_, buffer_.data(), buffer_.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size < 0)
      throw error(code::file_unreadable, "the input cannot be read after line "
                                           + std::to_string(number_) + ": "
                                           + std::strerror(errno));
    buffer_.resize(static_cast<std::size_t>(size));
    ended_ = size == 0;
    return !ended_;
  }
}

bool line_source::take_from_buffer() {
  const auto end = std::min(buffer_.find('\n', at_), buffer_.size());
  const auto part = end - at_;
  const auto room = limit_ - std::min(limit_, current_.text.size());
  current_.text.append(buffer_, at_, std::min(part, room));
  current_.too_long = current_.too_long || part > room;
  started_ = started_ || part > 0;
  const bool complete = end < buffer_.size();
  at_ = complete ? end + 1 : end;
  return complete;
}

std::optional<line_source::line> line_source::next() {
  bool complete = take_from_buffer();
  while (!complete && !ended_ && fill())
    complete = take_from_buffer();
  if (!complete && !started_)
    return std::nullopt;
  auto result = std::exchange(current_, {});
  started_ = false;
  if (!result.too_long && result.text.ends_with('\r'))
    result.text.pop_back();
  result.number = ++number_;
  return result;
}

bool line_source::ready() const {
  if (ended_ || buffer_.find('\n', at_) != std::string::npos)
    return true;
  pollfd wanted{fd_, POLLIN, 0};
  return ::poll(&wanted, 1, 0) > 0;
}

} // namespace sqlstreams
