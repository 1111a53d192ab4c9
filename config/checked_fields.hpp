#pragma once
// The checks that the validate() functions have in common. Private to config/.

#include "config/duration.hpp"
#include "config/problem.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// The longest duration of any option, ten years: sums of several, and clocks
/// that they are added to, stay far from the 292 years that 64 bits of
/// nanoseconds hold. The only bound there is; whoever reads or checks a
/// duration takes it from here.
inline constexpr std::chrono::nanoseconds max_duration =
  std::chrono::hours{24 * 3650};

/// Returns "at most 3650d".
inline std::string duration_cap() {
  return "at most " + format_duration(max_duration);
}

/// Collects problems; each check adds at most one.
class field_checks {
public:
  void positive(std::string_view field, std::chrono::nanoseconds value) {
    if (value.count() <= 0 || value > max_duration)
      add(field, "is " + format_duration(value),
          "a duration above 0, " + duration_cap());
  }

  void not_negative(std::string_view field, std::chrono::nanoseconds value) {
    if (value.count() < 0 || value > max_duration)
      add(field, "is " + format_duration(value),
          "a duration of 0 or more, " + duration_cap());
  }

  /// For durations of which negative ones mean something.
  void not_too_long(std::string_view field, std::chrono::nanoseconds value) {
    if (value < -max_duration || value > max_duration)
      add(field, "is " + format_duration(value),
          "a duration, " + duration_cap());
  }

  void between(std::string_view field, std::int64_t value, std::int64_t low,
               std::int64_t high) {
    if (value < low || value > high)
      add(field, "is " + std::to_string(value),
          "a whole number from " + std::to_string(low) + " to "
            + std::to_string(high));
  }

  /// Adds a problem of one field, or of two that contradict each other.
  void add(std::string_view field, std::string what, std::string accepted,
           std::string_view other = {}) {
    problems_.push_back({std::string(field), std::move(what),
                         std::move(accepted), std::string(other)});
  }

  void append(std::string_view outer, std::vector<problem> inner) {
    append_under(problems_, outer, std::move(inner));
  }

  [[nodiscard]] std::vector<problem> take() { return std::move(problems_); }

private:
  std::vector<problem> problems_;
};

/// Bounds of counts, for the checks and for what the file reader accepts.
inline constexpr std::int64_t max_count = 2'147'483'647;
inline constexpr std::int64_t max_handlers = 10'000;
inline constexpr std::int64_t max_partition_size = 1'000'000'000'000;
inline constexpr std::int64_t max_batch = 100'000;
inline constexpr std::int64_t max_payload_limit = 256LL << 20;

/// Sums durations that are not negative; as large as fits on overflow.
inline std::chrono::nanoseconds
saturating_sum(std::initializer_list<std::chrono::nanoseconds> parts) {
  std::int64_t sum = 0;
  for (auto part : parts)
    if (__builtin_add_overflow(sum, part.count(), &sum))
      return std::chrono::nanoseconds::max();
  return std::chrono::nanoseconds{sum};
}

/// Sets an unset (zero) field.
template <class T>
void set_default(T& field, const T& value) {
  if (field == T{})
    field = value;
}

} // namespace sqlstreams
