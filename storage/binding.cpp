#include "storage/binding.hpp"

#include <algorithm>

namespace sqlstreams {

bool matches_pattern(std::string_view pattern, std::string_view routing_key) {
  // Greedy with one point of return: a later `*` never needs an earlier one to
  // take more, so the work is bounded by the product of the lengths.
  constexpr auto none = std::string_view::npos;
  std::size_t at = 0;
  std::size_t next = 0;
  std::size_t star = none;
  std::size_t resume = 0;
  while (next < routing_key.size()) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      resume = next;
    } else if (at < pattern.size() && pattern[at] == routing_key[next]) {
      ++at;
      ++next;
    } else if (star != none) {
      at = star + 1;
      next = ++resume;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == none;
}

bool matches_bindings(const std::vector<std::string>& bindings,
                      std::string_view routing_key) {
  if (bindings.empty())
    return true;
  return !routing_key.empty()
         && std::any_of(bindings.begin(), bindings.end(),
                        [&](const std::string& pattern) {
                          return matches_pattern(pattern, routing_key);
                        });
}

} // namespace sqlstreams
