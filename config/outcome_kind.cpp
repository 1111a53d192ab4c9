#include "config/outcome_kind.hpp"

#include <array>

namespace sqlstreams {

namespace {

// In the order of the enumerators.
constexpr auto outcome_names = std::to_array<std::string_view>(
  {"done", "retry", "dead", "delay", "deferred", "superseded"});
constexpr auto status_names =
  std::to_array<std::string_view>({"ready", "inflight", "deferred", "dead"});
constexpr auto history_names =
  std::to_array<std::string_view>({"success", "failure", "delayed", "deferred",
                                   "superseded", "expired", "killed"});

template <class Names>
std::string_view name_of(const Names& names, std::size_t index) noexcept {
  return index < names.size() ? names[index] : std::string_view{"unknown"};
}

template <class Enum, class Names>
std::optional<Enum> find_name(const Names& names,
                              std::string_view text) noexcept {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == text)
      return static_cast<Enum>(i);
  return std::nullopt;
}

} // namespace

std::string_view to_string(outcome_kind value) noexcept {
  return name_of(outcome_names, static_cast<std::size_t>(value));
}

std::string_view to_string(exception_status value) noexcept {
  return name_of(status_names, static_cast<std::size_t>(value));
}

std::string_view to_string(history_kind value) noexcept {
  return name_of(history_names, static_cast<std::size_t>(value));
}

std::optional<outcome_kind> parse_outcome_kind(std::string_view text) noexcept {
  return find_name<outcome_kind>(outcome_names, text);
}

std::optional<exception_status>
parse_exception_status(std::string_view text) noexcept {
  return find_name<exception_status>(status_names, text);
}

std::optional<history_kind> parse_history_kind(std::string_view text) noexcept {
  return find_name<history_kind>(history_names, text);
}

} // namespace sqlstreams
