#include "apps/demo/order_file.hpp"

#include "config/error.hpp"

#include <cstring>
#include <random>

namespace sqlstreams::demo {

order make_order(std::int64_t number, std::uint32_t seed) {
  std::seed_seq mixed{seed, static_cast<std::uint32_t>(number)};
  std::minstd_rand draw{mixed};
  order made;
  made.number = number;
  made.customer = "customer-" + std::to_string(draw() % 500 + 1);
  made.amount_cents = static_cast<std::int64_t>(draw() % 50'000 + 100);
  // About one payment in four hundred is declined at first: enough to see
  // retries, few enough to keep the rate.
  made.declines = draw() % 400 == 0 ? 1 : 0;
  return made;
}

void write_order_file(const std::filesystem::path& path, std::int64_t count,
                      std::uint32_t seed) {
  std::ofstream file{path, std::ios::binary};
  for (std::int64_t number = 1; number <= count; ++number)
    file << nlohmann::json(make_order(number, seed)).dump() << '\n';
  file.close();
  if (!file)
    throw error(code::file_unreadable,
                "'" + path.string() + "' cannot be written",
                "check the folder's permissions and the free space");
}

order_reader::order_reader(const std::filesystem::path& path)
  : name_{path.string()}, file_{path, std::ios::binary} {
  if (!file_)
    throw error(code::file_unreadable,
                "'" + name_ + "' cannot be read: " + std::strerror(errno));
}

std::optional<order> order_reader::next() {
  std::string line;
  if (!std::getline(file_, line))
    return std::nullopt;
  ++line_;
  try {
    return nlohmann::json::parse(line).get<order>();
  } catch (const nlohmann::json::exception& e) {
    throw error(code::payload_not_json, "line " + std::to_string(line_)
                                          + " of '" + name_
                                          + "' is no order: " + e.what());
  }
}

std::vector<std::int64_t> order_numbers(const std::filesystem::path& path) {
  std::vector<std::int64_t> numbers;
  order_reader orders{path};
  while (const auto next = orders.next())
    numbers.push_back(next->number);
  return numbers;
}

} // namespace sqlstreams::demo
