#pragma once

#include "config/message_options.hpp"
#include "storage/message.hpp"

#include <string>

namespace sqlstreams {

/// What goes with one produced message besides its payload.
struct produce_options {
  std::string routing_key{};     ///< matched by groups' bindings; empty: none
  std::string message_key{};     ///< for the keyed policies; empty: none
  std::string idempotency_key{}; ///< produces the message once; empty: none
  message_headers headers{};
  message_options options{}; ///< sparse; unset: the producer's, the group's
};

/// A payload with options of its own, for batches.
template <class T>
struct outgoing {
  T payload;
  produce_options options{};
};

} // namespace sqlstreams
