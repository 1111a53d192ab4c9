#include "apps/sqlstreams/key_field.hpp"

#include <nlohmann/json.hpp>

namespace sqlstreams {

std::optional<std::string> key_field(std::string_view payload,
                                     std::string_view field) {
  const auto document = nlohmann::json::parse(payload, nullptr, false);
  if (!document.is_object())
    return std::nullopt;
  const auto found = document.find(std::string(field));
  if (found == document.end() || found->is_null() || found->is_structured())
    return std::nullopt;
  auto key = found->is_string() ? found->get<std::string>() : found->dump();
  return key.empty() ? std::nullopt : std::optional(std::move(key));
}

} // namespace sqlstreams
