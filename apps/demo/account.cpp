#include "apps/demo/account.hpp"

#include <algorithm>

namespace sqlstreams::demo {

std::string summary_line(const account& of) {
  return "demo: produced=" + std::to_string(of.produced) + " handled="
         + std::to_string(of.handled) + " lost=" + std::to_string(of.lost)
         + " unexpected=" + std::to_string(of.unexpected)
         + " duplicates=" + std::to_string(of.duplicates);
}

account_book::account_book(const std::vector<std::int64_t>& orders) {
  orders_.reserve(orders.size());
  for (const auto number : orders)
    orders_.emplace(number, order_state{});
  sums_.produced = sums_.lost = orders_.size();
}

void account_book::enter(std::string_view line) {
  const auto entry = parse_ledger_line(line);
  const auto found = entry ? orders_.find(entry->order) : orders_.end();
  if (found == orders_.end())
    return note_unexpected(line);
  auto& state = found->second;
  if (state.message != 0 && state.message != entry->message)
    return note_unexpected(line);
  state.message = entry->message;
  if (entry->mark == ledger_mark::done)
    charge(state, entry->pid);
  else
    ++sums_.declined;
}

std::vector<std::int64_t> account_book::lost_orders(std::size_t limit) const {
  std::vector<std::int64_t> lost;
  for (const auto& [number, state] : orders_)
    if (!state.charged)
      lost.push_back(number);
  std::sort(lost.begin(), lost.end());
  lost.resize(std::min(lost.size(), limit));
  return lost;
}

void account_book::note_unexpected(std::string_view line) {
  constexpr std::size_t shown = 10;
  ++sums_.unexpected;
  if (oddities_.size() < shown)
    oddities_.emplace_back(line);
}

void account_book::charge(order_state& state, std::int64_t pid) {
  if (state.charged) {
    ++sums_.duplicates;
    return;
  }
  state.charged = true;
  ++sums_.handled;
  --sums_.lost;
  ++by_process_[pid];
}

} // namespace sqlstreams::demo
