#include "actors/session_child.hpp"

#include "actors/messages.hpp"

#include <caf/event_based_actor.hpp>

namespace sqlstreams {

std::chrono::nanoseconds with_jitter(std::chrono::nanoseconds rate,
                                     std::minstd_rand& random) {
  // Own arithmetic: the standard's distributions differ between libraries, and
  // simulations must not.
  const auto parts = static_cast<std::int64_t>(random() % 2001) + 9'000;
  return rate / 10'000 * parts + rate % 10'000 * parts / 10'000;
}

void fail_session(caf::event_based_actor* self, const caf::actor& session,
                  const error& why) {
  self->send(session, session_failed{std::make_shared<const error>(why)});
}

bool may_ask_again(const error& why) noexcept {
  // A storage actor that ended is replaced; one that refuses because it ends
  // will not come back.
  return why.recover() != recovery::permanent
         || why.number() == code::actor_failed;
}

} // namespace sqlstreams
