#include "config/nearest_word.hpp"

#include <algorithm>
#include <cctype>

namespace sqlstreams {

namespace {

std::string folded(std::string_view word) {
  std::string result;
  for (char c : word)
    result +=
      c == '-' ? '_'
               : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

/// A third of the letters may be wrong; more is a different word.
std::size_t tolerance(std::string_view word) {
  return std::clamp<std::size_t>((word.size() + 1) / 3, 1, 4);
}

} // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j)
    last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string>
nearest_word(std::string_view word,
             const std::vector<std::string>& candidates) {
  constexpr std::size_t longest = 100; // nobody's typing mistake
  if (word.empty() || word.size() > longest)
    return std::nullopt;
  const auto wanted = folded(word);
  auto least = tolerance(word) + 1;
  std::optional<std::string> nearest;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(wanted, folded(candidate));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

} // namespace sqlstreams
