#pragma once
// The account of a run: what was to be done against what the ledgers say.

#include "apps/demo/ledger.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sqlstreams::demo {

/// What became of the orders.
struct account {
  std::size_t produced = 0;   ///< orders in the file
  std::size_t handled = 0;    ///< of them, charged at least once
  std::size_t lost = 0;       ///< of them, never charged
  std::size_t unexpected = 0; ///< ledger lines that nothing explains
  std::size_t duplicates = 0; ///< charges of an order after its first
  std::size_t declined = 0;   ///< runs that failed on purpose

  bool operator==(const account&) const = default;

  /// Whether everything was handled and nothing was made up.
  [[nodiscard]] bool balanced() const noexcept {
    return lost == 0 && unexpected == 0 && handled == produced;
  }
};

/// Returns the demo's last line.
std::string summary_line(const account& of);

/// Sums up ledger lines against the orders there are. Pure: lines come in any
/// order. A line is unexpected if it cannot be read, names an order that there
/// is not, or names a known order under another message id than before: such a
/// message was made up.
class account_book {
public:
  /// @param orders numbers of all orders, each once
  explicit account_book(const std::vector<std::int64_t>& orders);

  /// Enters one line of a ledger, without its newline.
  void enter(std::string_view line);

  /// Returns the sums so far.
  [[nodiscard]] const account& sums() const noexcept { return sums_; }

  /// Returns orders charged by process, the first charge of each alone.
  [[nodiscard]] const std::map<std::int64_t, std::size_t>&
  first_charges() const noexcept {
    return by_process_;
  }

  /// Returns up to `limit` orders that were never charged, ascending.
  [[nodiscard]] std::vector<std::int64_t> lost_orders(std::size_t limit) const;

  /// Returns up to ten unexpected lines, as they came.
  [[nodiscard]] const std::vector<std::string>& oddities() const noexcept {
    return oddities_;
  }

private:
  struct order_state {
    std::int64_t message = 0; ///< 0: none seen yet
    bool charged = false;
  };

  void note_unexpected(std::string_view line);
  void charge(order_state& state, std::int64_t pid);

  std::unordered_map<std::int64_t, order_state> orders_;
  account sums_;
  std::map<std::int64_t, std::size_t> by_process_;
  std::vector<std::string> oddities_;
};

} // namespace sqlstreams::demo
