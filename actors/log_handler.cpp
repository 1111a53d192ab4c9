#include "actors/log_handler.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

namespace sqlstreams {

namespace {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8
              | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k)
      text += k <= count ? digits[group >> (18 - 6 * k) & 63] : '=';
  }
  return text;
}

std::string json_text(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}

void add_payload(std::string& line, const message& subject) {
  if (!subject.content_type.empty()) {
    line += ",\"content_type\":" + json_text(subject.content_type)
            + ",\"payload_base64\":\"" + base64(subject.payload) + '"';
    return;
  }
  // Line breaks in JSON text are blanks: in strings they are escaped.
  auto payload = subject.payload;
  std::replace(payload.begin(), payload.end(), '\n', ' ');
  std::replace(payload.begin(), payload.end(), '\r', ' ');
  line += ",\"payload\":" + payload;
}

} // namespace

std::string log_line_of(const delivery& run) {
  const auto& subject = run.message;
  auto line = "{\"id\":" + std::to_string(subject.id) + ",\"stream\":"
              + json_text(run.stream) + ",\"group\":" + json_text(run.group)
              + ",\"attempt\":" + std::to_string(run.attempt)
              + ",\"created_at\":"
              + std::to_string(subject.created_at.time_since_epoch().count());
  if (!subject.message_key.empty())
    line += ",\"message_key\":" + json_text(subject.message_key);
  if (!subject.routing_key.empty())
    line += ",\"routing_key\":" + json_text(subject.routing_key);
  if (!subject.headers.empty())
    line += ",\"headers\":"
            + nlohmann::json(subject.headers)
                .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  add_payload(line, subject);
  line += '}';
  return line;
}

message_handler make_log_handler() {
  const auto mutex = std::make_shared<std::mutex>();
  return [mutex](delivery& run) {
    const auto line = log_line_of(run) + '\n';
    const std::lock_guard lock{*mutex};
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()
        || std::fflush(stdout) != 0)
      return retry(std::string{"cannot write to standard output: "}
                   + std::strerror(errno));
    return done();
  };
}

} // namespace sqlstreams
