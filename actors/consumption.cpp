#include "actors/consumption.hpp"

#include "actors/consumption_state.hpp"
#include "config/error.hpp"

#include <utility>

namespace sqlstreams {

namespace {

void stop_and_wait(const std::shared_ptr<consumption_state>& state) noexcept {
  if (!state || state->ended())
    return;
  state->stop();
  // The session keeps its own budget; this only bounds a session that is stuck.
  const auto patience = state->budget() + std::chrono::seconds{30};
  if (!state->wait_until(std::chrono::steady_clock::now() + patience))
    state->kill();
}

} // namespace

consumption::consumption(std::shared_ptr<consumption_state> state)
  : state_{std::move(state)} {}

consumption& consumption::operator=(consumption&& other) noexcept {
  if (this != &other) {
    stop_and_wait(state_);
    state_ = std::move(other.state_);
  }
  return *this;
}

consumption::~consumption() { stop_and_wait(state_); }

void consumption::stop() noexcept {
  if (state_)
    state_->stop();
}

session_totals consumption::wait() {
  return state_ ? state_->wait() : session_totals{};
}

session_totals consumption::wait(std::stop_token token) {
  const std::stop_callback stop_it{std::move(token), [this] {
                                     stop();
                                   }};
  return wait();
}

bool consumption::ended() const noexcept { return !state_ || state_->ended(); }

session_totals consumption::totals() const {
  return state_ ? state_->totals() : session_totals{};
}

} // namespace sqlstreams
