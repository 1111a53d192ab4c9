#pragma once

#include "apps/demo/order.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams::demo {

/// Returns one order of the shop: the same for the same number and seed.
order make_order(std::int64_t number, std::uint32_t seed);

/// Writes orders 1 to `count`, one JSON object a line.
/// @throws error file_unreadable if the file cannot be written
void write_order_file(const std::filesystem::path& path, std::int64_t count,
                      std::uint32_t seed);

/// Reads an order file from its start, a line at a time.
class order_reader {
public:
  /// @throws error file_unreadable
  explicit order_reader(const std::filesystem::path& path);

  /// Returns the next order; empty at the end.
  /// @throws error payload_not_json naming the line
  std::optional<order> next();

private:
  std::string name_;
  std::ifstream file_;
  std::uint64_t line_ = 0;
};

/// Returns the numbers of all orders in a file.
std::vector<std::int64_t> order_numbers(const std::filesystem::path& path);

} // namespace sqlstreams::demo
