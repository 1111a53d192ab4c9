#include "actors/overdue_answers.hpp"

namespace sqlstreams {

bool overdue_answers::add(const delivery_key& which) {
  if (places_->add()) {
    with_place_.insert(which);
    return false;
  }
  in_slot_ = which;
  return true;
}

bool overdue_answers::answered(const delivery_key& which) {
  if (with_place_.erase(which) > 0)
    places_->remove();
  if (in_slot_ != which)
    return false;
  in_slot_.reset();
  return true;
}

bool overdue_answers::clear() noexcept {
  for (auto left = with_place_.size(); left > 0; --left)
    places_->remove();
  with_place_.clear();
  return std::exchange(in_slot_, std::nullopt).has_value();
}

} // namespace sqlstreams
