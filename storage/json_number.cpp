#include "storage/json_number.hpp"

#include <cstdint>

namespace sqlstreams {
namespace {

constexpr std::int64_t max_digits_before_point = 131'072;
constexpr std::int64_t max_digits_after_point = 16'383;

/// Beyond this the server reads no exponent, even of a zero.
constexpr std::int64_t max_exponent = 1'000'000'000;

/// Reads an exponent; one that is too large becomes one that is just so.
std::int64_t read_exponent(std::string_view text) noexcept {
  const bool negative = text.starts_with('-');
  std::int64_t value = 0;
  for (char c : text)
    if (c >= '0' && c <= '9' && value <= max_exponent)
      value = value * 10 + (c - '0');
  return negative ? -value : value;
}

} // namespace

bool fits_numeric(std::string_view number) noexcept {
  if (number.starts_with('-'))
    number.remove_prefix(1);
  const auto mark = number.find_first_of("eE");
  const auto digits = number.substr(0, mark);
  const auto exponent =
    mark == std::string_view::npos ? 0 : read_exponent(number.substr(mark + 1));
  if (exponent > max_exponent || exponent < -max_exponent)
    return false;
  const auto point = digits.find('.');
  const auto whole =
    static_cast<std::int64_t>(point == digits.npos ? digits.size() : point);
  const auto fraction =
    point == digits.npos ? 0
                         : static_cast<std::int64_t>(digits.size()) - whole - 1;
  // Written digits count, zeros too: the server keeps how many there were.
  if (fraction - exponent > max_digits_after_point)
    return false;
  const auto first = digits.find_first_not_of("0.");
  if (first == digits.npos)
    return true; // zero has no digits before the point
  // The first digit that counts stands so many places before the point.
  const auto at = static_cast<std::int64_t>(first);
  const auto places = at < whole ? whole - at : whole - at + 1;
  return places + exponent <= max_digits_before_point;
}

} // namespace sqlstreams
