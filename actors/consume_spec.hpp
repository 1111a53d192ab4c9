#pragma once

#include "actors/delivery.hpp"
#include "config/consume_options.hpp"
#include "storage/registration.hpp"

#include <caf/actor.hpp>

#include <cstdint>
#include <string>
#include <variant>

namespace sqlstreams {

/// Who handles the messages: a callable on threads of its own, or an actor
/// that answers `deliver` with `outcome` (messages.hpp).
using handler_target = std::variant<message_handler, caf::actor>;

/// Everything that one consumer instance needs to know.
struct consume_spec {
  stream_info stream;
  group_info group;
  int schema_version = 1;
  consume_options options{};
  handler_target handler;
  std::string instance{}; ///< unique among live instances; for people
  /// Ends by itself after so many handled messages (`done` or recorded
  /// otherwise); 0: never. Never claims more than are left.
  std::size_t max_messages = 0;
  std::uint32_t seed = 1; ///< of jitter
};

} // namespace sqlstreams
