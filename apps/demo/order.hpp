#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>

namespace sqlstreams::demo {

/// What the demo's shop sells and its consumers charge. One line of the order
/// file, and the payload of one message.
struct order {
  static constexpr int schema_version = 1;

  std::int64_t number = 0; ///< counts from 1, without gaps
  std::string customer{};
  std::int64_t amount_cents = 0;
  int declines = 0; ///< runs that fail before the payment goes through

  bool operator==(const order&) const = default;
};

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order, number, customer, amount_cents,
                                   declines)

} // namespace sqlstreams::demo
