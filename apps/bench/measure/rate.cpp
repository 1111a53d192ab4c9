#include "apps/bench/measure/rate.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cassert>

namespace sqlstreams::bench {

namespace {

nlohmann::json as_json(const spread& of) {
  return {{"median", of.median}, {"low", of.low}, {"high", of.high}};
}

nlohmann::json as_json(const comparison& measured) {
  return {{"name", measured.name},
          {"limit_per_second", measured.limit},
          {"sqlstreams_per_second", measured.streams},
          {"ratio", as_json(ratio_of(measured))},
          {"goal", measured.goal}};
}

std::string line(std::string_view side, const spread& of) {
  return fmt::format("  {:<10} {:>9.0f}/s  ({:.0f} to {:.0f})\n", side,
                     of.median, of.low, of.high);
}

} // namespace

spread spread_of(std::vector<double> values) {
  assert(!values.empty());
  std::sort(values.begin(), values.end());
  const auto middle = values.size() / 2;
  const auto median = values.size() % 2 == 1
                        ? values[middle]
                        : (values[middle - 1] + values[middle]) / 2;
  return {median, values.front(), values.back()};
}

spread ratio_of(const comparison& measured) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < measured.streams.size(); ++i)
    ratios.push_back(measured.streams[i] / measured.limit.at(i));
  return spread_of(std::move(ratios));
}

std::string to_text(const comparison& measured) {
  const auto ratio = ratio_of(measured);
  return measured.name + '\n' + line("limit", spread_of(measured.limit))
         + line("sqlstreams", spread_of(measured.streams))
         + fmt::format(
           "  ratio      {:>9.2f}    ({:.2f} to {:.2f}), goal {:.2f}"
           "{}\n",
           ratio.median, ratio.low, ratio.high, measured.goal,
           ratio.median < measured.goal ? ": falls short" : "");
}

std::string to_json(const std::vector<comparison>& measured) {
  auto all = nlohmann::json::array();
  for (const auto& one : measured)
    all.push_back(as_json(one));
  return nlohmann::json{{"comparisons", all}}.dump(2) + '\n';
}

} // namespace sqlstreams::bench
