#pragma once

#include "config/error.hpp"

#include <cstddef>
#include <utility>

namespace sqlstreams {

/// One message of a batch was refused by the database; nothing of the batch was
/// produced, and the others may be produced without it.
class refused_message : public error {
public:
  /// @param index of the message in its batch, from zero
  refused_message(std::size_t index, error why)
    : error{std::move(why)}, index_{index} {}

  [[nodiscard]] std::size_t index() const noexcept { return index_; }

private:
  std::size_t index_;
};

} // namespace sqlstreams
