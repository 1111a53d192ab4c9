#include "actors/log.hpp"

#include "actors/log_suppression.hpp"

#include <nlohmann/json.hpp>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>

namespace sqlstreams {

namespace {

spdlog::level::level_enum to_spdlog(log_level level) {
  switch (level) {
  case log_level::debug: return spdlog::level::debug;
  case log_level::info: return spdlog::level::info;
  case log_level::warning: return spdlog::level::warn;
  case log_level::error: return spdlog::level::err;
  case log_level::off: break;
  }
  return spdlog::level::off;
}

/// Quoted if a reader (or a program) could not tell where the value ends.
std::string shown(const std::string& value) {
  const auto plain = [](unsigned char c) {
    return c > ' ' && c != '"' && c != '=' && c != 0x7f;
  };
  if (!value.empty() && std::all_of(value.begin(), value.end(), plain))
    return value;
  return nlohmann::json(value).dump(-1, ' ', false,
                                    nlohmann::json::error_handler_t::replace);
}

std::string as_text(const log_line& line) {
  std::string out{to_string(line.level)};
  if (line.number != code{})
    out += fmt::format(" {} {}:", to_string(line.number),
                       find_diagnostic(line.number).name);
  // A text may hold what a database said: one event stays one line.
  out += ' ';
  for (char c : line.text)
    out += c == '\n' || c == '\r' ? ' ' : c;
  for (const auto& [name, value] : line.fields)
    out += fmt::format(" {}={}", name, shown(value));
  return out;
}

std::string as_json(const log_line& line) {
  nlohmann::ordered_json out;
  out["level"] = to_string(line.level);
  if (line.number != code{}) {
    out["code"] = to_string(line.number);
    out["name"] = find_diagnostic(line.number).name;
  }
  out["message"] = line.text;
  for (const auto& [name, value] : line.fields)
    out[name] = value;
  return out.dump(-1, ' ', false,
                  nlohmann::ordered_json::error_handler_t::replace);
}

class log_writer {
public:
  log_writer()
    : out_{std::make_shared<spdlog::logger>(
      "sqlstreams", std::make_shared<spdlog::sinks::stderr_sink_mt>())} {
    configure({});
  }

  void configure(const log_options& options) {
    const std::lock_guard lock{mutex_};
    format_ = options.format;
    level_ = options.level;
    out_->set_level(to_spdlog(options.level));
    out_->flush_on(spdlog::level::debug);
    // The line carries its own level; spdlog adds the time (UTC).
    out_->set_formatter(std::make_unique<spdlog::pattern_formatter>(
      options.format == log_format::json
        ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v)"
        : "%Y-%m-%dT%H:%M:%S.%eZ %v",
      spdlog::pattern_time_type::utc));
  }

  [[nodiscard]] bool enabled(log_level level) const noexcept {
    return level >= level_.load(std::memory_order_relaxed)
           && level != log_level::off;
  }

  void redirect(std::function<void(const log_line&)> sink) {
    const std::lock_guard lock{mutex_};
    redirected_ = std::move(sink);
  }

  void write(log_line line, std::string_view static_text) {
    const std::lock_guard lock{mutex_};
    if (redirected_)
      return redirected_(line);
    if (line.level >= log_level::warning) {
      const auto left_out = suppression_.offer(
        fmt::format("{} {}", static_cast<int>(line.number), static_text),
        std::chrono::steady_clock::now());
      if (!left_out)
        return;
      if (*left_out > 0)
        line.fields.push_back(field("suppressed_count", *left_out));
    }
    const auto level = to_spdlog(line.level);
    if (format_ == log_format::json)
      out_->log(level, "{}", as_json(line).substr(1)); // after the time
    else
      out_->log(level, "{}", as_text(line));
  }

private:
  std::mutex mutex_;
  std::shared_ptr<spdlog::logger> out_;
  std::function<void(const log_line&)> redirected_;
  std::atomic<log_level> level_{log_level::info};
  log_format format_ = log_format::text;
  log_suppression suppression_{std::chrono::minutes{1}};
};

/// Never destroyed: threads that were abandoned may log until the very end.
log_writer& writer() {
  static auto* the_writer = new log_writer;
  return *the_writer;
}

} // namespace

std::string_view to_string(log_level value) {
  switch (value) {
  case log_level::debug: return "debug";
  case log_level::info: return "info";
  case log_level::warning: return "warning";
  case log_level::error: return "error";
  case log_level::off: break;
  }
  return "off";
}

void configure_log(const log_options& options) { writer().configure(options); }

void redirect_log(std::function<void(const log_line&)> sink) {
  writer().redirect(std::move(sink));
}

void log_event(code number, log_level level, std::string_view text,
               std::initializer_list<log_field> fields) {
  try {
    if (writer().enabled(level))
      writer().write({number, level, std::string{text}, fields}, text);
  } catch (...) {
    // A log that cannot be written must not end what it tells about.
  }
}

void log_note(log_level level, std::string_view text,
              std::initializer_list<log_field> fields) {
  log_event(code{}, level, text, fields);
}

namespace detail {

void log_formatted(code number, log_level level, std::string_view format,
                   std::string text) noexcept {
  try {
    writer().write({number, level, std::move(text), {}}, format);
  } catch (...) {
  }
}

bool log_enabled(log_level level) noexcept {
  try {
    return writer().enabled(level);
  } catch (...) {
    return false;
  }
}

} // namespace detail

} // namespace sqlstreams
