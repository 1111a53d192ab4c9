#include "config/concurrency.hpp"

namespace sqlstreams {

std::string_view to_string(concurrency value) noexcept {
  switch (value) {
  case concurrency::parallel: return "parallel";
  case concurrency::exclusive: return "exclusive";
  case concurrency::ordered: return "ordered";
  }
  return "parallel";
}

std::optional<concurrency> parse_concurrency(std::string_view text) noexcept {
  for (auto value :
       {concurrency::parallel, concurrency::exclusive, concurrency::ordered})
    if (to_string(value) == text)
      return value;
  return std::nullopt;
}

} // namespace sqlstreams
