#pragma once

#include "actors/client.hpp"
#include "apps/sqlstreams/context.hpp"

#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>

namespace sqlstreams {

struct tail_options {
  std::string stream;
  /// Starts above this id; empty: with what is produced from now on.
  std::optional<message_id> after{};
  std::size_t max = 0; ///< ends after so many messages; 0: never
};

/// Prints a stream's messages as they come, without a group: nobody else sees
/// fewer of them. Ends when asked to stop or after `max` messages.
/// @returns false if standard output could not be written
/// @throws error stream_not_found, ...
bool tail(const client& db, const tail_options& what, const context& ctx,
          std::stop_token stop);

} // namespace sqlstreams
