#include "config/problem.hpp"

#include "config/error.hpp"

#include <utility>

namespace sqlstreams {

std::string to_string(const problem& value) {
  auto text = value.field + ": " + value.what;
  if (!value.accepted.empty())
    text += "; accepted: " + value.accepted;
  return text;
}

void append_under(std::vector<problem>& all, std::string_view outer,
                  std::vector<problem> inner) {
  const auto prefix = std::string(outer) + ".";
  for (auto& one : inner) {
    one.field.insert(0, prefix);
    if (!one.other_field.empty())
      one.other_field.insert(0, prefix);
    all.push_back(std::move(one));
  }
}

void throw_if_any(const std::vector<problem>& problems,
                  std::string_view subject) {
  if (problems.empty())
    return;
  std::string detail;
  if (!subject.empty())
    detail.append(subject).append(": ");
  for (const auto& one : problems) {
    if (&one != &problems.front())
      detail += " | ";
    detail += to_string(one);
  }
  throw error{code::invalid_option, std::move(detail)};
}

} // namespace sqlstreams
