#include "config/error.hpp"

namespace sqlstreams {

namespace {

std::string_view without_stop(std::string_view text) {
  while (text.ends_with('.'))
    text.remove_suffix(1);
  return text;
}

std::string or_else(std::string text, std::string_view fallback) {
  return std::string(without_stop(text.empty() ? fallback : text));
}

std::string describe(code number, std::string_view detail,
                     std::string_view fix) {
  const auto& row = find_diagnostic(number);
  std::string text = to_string(number);
  text.append(" ").append(row.name).append(": ");
  text += without_stop(detail.empty() ? row.problem : detail);
  text += ". Fix: ";
  text += without_stop(fix.empty() ? row.fix : fix);
  return text;
}

} // namespace

error::error(code number, std::string detail, std::string fix)
  : error(number, find_diagnostic(number).recover, std::move(detail),
          std::move(fix)) {}

error::error(code number, sqlstreams::recovery recover, std::string detail,
             std::string fix)
  : std::runtime_error(describe(number, detail, fix)), number_{number},
    recover_{recover}, detail_{or_else(std::move(detail),
                                       find_diagnostic(number).problem)},
    fix_{or_else(std::move(fix), find_diagnostic(number).fix)} {}

} // namespace sqlstreams
