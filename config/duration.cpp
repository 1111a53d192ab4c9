#include "config/duration.hpp"

#include <array>
#include <cstdint>

namespace sqlstreams {

namespace {

struct unit {
  std::string_view name;
  std::uint64_t nanoseconds;
};

constexpr auto units = std::to_array<unit>({
  {"d", 86'400'000'000'000},
  {"h", 3'600'000'000'000},
  {"m", 60'000'000'000},
  {"s", 1'000'000'000},
  {"ms", 1'000'000},
  {"us", 1'000},
  {"ns", 1},
});

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view take_while(std::string_view& text, auto&& belongs) {
  std::size_t size = 0;
  while (size < text.size() && belongs(text[size]))
    ++size;
  const auto result = text.substr(0, size);
  text.remove_prefix(size);
  return result;
}

std::optional<std::uint64_t> find_unit(std::string_view name) {
  for (const auto& candidate : units)
    if (candidate.name == name)
      return candidate.nanoseconds;
  return std::nullopt;
}

/// Adds factor * unit to the sum; false if it does not fit.
bool add(std::int64_t& sum, std::int64_t factor, std::uint64_t unit) {
  std::int64_t product = 0;
  return !__builtin_mul_overflow(factor, static_cast<std::int64_t>(unit),
                                 &product)
         && !__builtin_add_overflow(sum, product, &sum);
}

bool add_whole(std::int64_t& sum, std::string_view digits, std::uint64_t unit) {
  std::int64_t number = 0;
  for (char c : digits)
    if (__builtin_mul_overflow(number, std::int64_t{10}, &number)
        || __builtin_add_overflow(number, std::int64_t{c - '0'}, &number))
      return false;
  return add(sum, number, unit);
}

bool add_fraction(std::int64_t& sum, std::string_view digits,
                  std::uint64_t unit) {
  for (char c : digits) {
    if (unit % 10 != 0 && c != '0')
      return false; // finer than a nanosecond
    unit /= 10;
    if (!add(sum, c - '0', unit))
      return false;
  }
  return true;
}

} // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  if (text == "0")
    return std::chrono::nanoseconds{0};
  if (text.empty())
    return std::nullopt;
  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto whole = take_while(text, is_digit);
    std::string_view fraction;
    if (text.starts_with('.')) {
      text.remove_prefix(1);
      fraction = take_while(text, is_digit);
      if (fraction.empty())
        return std::nullopt;
    }
    const auto unit =
      find_unit(take_while(text, [](char c) { return c >= 'a' && c <= 'z'; }));
    if (whole.empty() || !unit || !add_whole(sum, whole, *unit)
        || !add_fraction(sum, fraction, *unit))
      return std::nullopt;
  }
  return std::chrono::nanoseconds{sum};
}

std::string format_duration(std::chrono::nanoseconds value) {
  if (value.count() == 0)
    return "0";
  std::string text;
  auto rest = static_cast<std::uint64_t>(value.count());
  if (value.count() < 0) {
    text = "-";
    rest = 0 - rest; // well defined for the smallest value, too
  }
  for (const auto& [name, nanoseconds] : units) {
    if (rest >= nanoseconds)
      text.append(std::to_string(rest / nanoseconds)).append(name);
    rest %= nanoseconds;
  }
  return text;
}

} // namespace sqlstreams
