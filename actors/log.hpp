#pragma once
// The log of the library: one line an event on standard error, with its code.
// A text is static and says what happened; what differs from case to case goes
// into fields. Never log a payload, a key's value or a URL.

#include "config/diagnostic.hpp"

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

enum class log_level : std::uint8_t { debug, info, warning, error, off };
enum class log_format : std::uint8_t { text, json };

/// Returns "debug", "info", "warning", "error" or "off".
std::string_view to_string(log_level value);

struct log_options {
  log_level level = log_level::info; ///< less severe lines are dropped
  log_format format = log_format::text;
};

/// Sets up the log of this process. Thread-safe.
void configure_log(const log_options& options);

/// A value that belongs to an event.
struct log_field {
  std::string name;
  std::string value;
};

/// Returns a field of anything that fmt can print.
template <class T>
log_field field(std::string_view name, const T& value) {
  return {std::string{name}, fmt::format("{}", value)};
}

/// A line as it is written.
struct log_line {
  code number{}; ///< zero: none
  log_level level = log_level::info;
  std::string text{}; ///< without code and fields
  std::vector<log_field> fields{};
};

/// Writes one event: `level SQL0026 range_reclaimed: text name=value ...`.
/// Warnings and errors of the same code and text are written once a minute; the
/// next one says how many were left out. Thread-safe, never throws.
void log_event(code number, log_level level, std::string_view text,
               std::initializer_list<log_field> fields = {});

/// Writes a line about what has no code: `level text name=value ...`.
void log_note(log_level level, std::string_view text,
              std::initializer_list<log_field> fields = {});

/// The same as log_event with values inside the text. What is suppressed is
/// decided by the format, so a value does not make a line new.
template <class First, class... Args>
void log_event(code number, log_level level,
               fmt::format_string<First, Args...> format, First&& first,
               Args&&... args);

/// Takes the lines instead of standard error (tests, embedding); an empty
/// function puts standard error back. Suppression is left out for it. The
/// function may be called from any thread, one call at a time.
void redirect_log(std::function<void(const log_line&)> sink);

namespace detail {
void log_formatted(code number, log_level level, std::string_view format,
                   std::string text) noexcept;
bool log_enabled(log_level level) noexcept;
} // namespace detail

template <class First, class... Args>
void log_event(code number, log_level level,
               fmt::format_string<First, Args...> format, First&& first,
               Args&&... args) {
  if (!detail::log_enabled(level))
    return;
  const fmt::string_view text = format;
  detail::log_formatted(number, level, {text.data(), text.size()},
                        fmt::format(format, std::forward<First>(first),
                                    std::forward<Args>(args)...));
}

} // namespace sqlstreams
