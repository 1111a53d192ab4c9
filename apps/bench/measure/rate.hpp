#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

namespace sqlstreams::bench {

/// So many messages in so long.
struct rate {
  std::int64_t messages = 0;
  std::chrono::duration<double> took{};

  [[nodiscard]] double per_second() const noexcept {
    return took.count() > 0 ? static_cast<double>(messages) / took.count() : 0;
  }
};

/// Two sides measured in turn, one pair a repetition.
struct comparison {
  std::string name;              ///< of what is measured
  std::vector<double> limit{};   ///< messages a second
  std::vector<double> streams{}; ///< messages a second
  double goal = 0;               ///< the ratio that is aimed at
};

/// Middle value, and the lowest and highest beside it.
struct spread {
  double median = 0;
  double low = 0;
  double high = 0;
};

/// Returns the spread of values. @pre there is one
spread spread_of(std::vector<double> values);

/// Returns the spread of the ratios streams / limit, repetition by repetition.
spread ratio_of(const comparison& measured);

/// Returns one comparison as lines of text for people.
std::string to_text(const comparison& measured);

/// Returns comparisons as a JSON document.
std::string to_json(const std::vector<comparison>& measured);

} // namespace sqlstreams::bench
