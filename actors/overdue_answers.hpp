#pragma once

#include "actors/abandoned_runs.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace sqlstreams {

/// Deliveries that a handler actor did not answer in time. Each holds a place
/// among the session's abandoned runs until it is answered or, if none is left,
/// the slot of its runner. Not copied: it gives the places back when it ends.
class overdue_answers {
public:
  /// Names a delivery within its runner.
  struct delivery_key {
    std::uint64_t chunk = 0;
    std::size_t index = 0;
    auto operator<=>(const delivery_key&) const = default;
  };

  overdue_answers() = default;
  explicit overdue_answers(std::shared_ptr<abandoned_runs> places)
    : places_{std::move(places)} {}
  overdue_answers(overdue_answers&&) = default;
  overdue_answers& operator=(overdue_answers&& other) noexcept {
    std::swap(places_, other.places_);
    std::swap(with_place_, other.with_place_);
    std::swap(in_slot_, other.in_slot_);
    return *this;
  }
  ~overdue_answers() { clear(); }

  /// A delivery is given up.
  /// @returns true if it occupies the slot until it is answered
  bool add(const delivery_key& which);

  /// An answer came after all.
  /// @returns true if that frees the slot
  bool answered(const delivery_key& which);

  /// No answer is going to come: the handler has ended, or we do.
  /// @returns true if that frees the slot
  bool clear() noexcept;

private:
  std::shared_ptr<abandoned_runs> places_;
  std::set<delivery_key> with_place_;
  std::optional<delivery_key> in_slot_;
};

} // namespace sqlstreams
