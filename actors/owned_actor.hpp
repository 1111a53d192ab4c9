#pragma once

#include <caf/actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <utility>

namespace sqlstreams {

/// An actor that ends with its owner, however the owner ends.
class owned_actor {
public:
  owned_actor() = default;
  explicit owned_actor(caf::actor handle) : handle_{std::move(handle)} {}
  owned_actor(owned_actor&& other) noexcept
    : handle_{std::exchange(other.handle_, nullptr)} {}
  owned_actor& operator=(owned_actor&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~owned_actor() {
    if (handle_)
      caf::anon_send_exit(handle_, caf::exit_reason::kill);
  }

  /// The actor has ended.
  void forget() noexcept { handle_ = nullptr; }

  explicit operator bool() const noexcept { return static_cast<bool>(handle_); }
  [[nodiscard]] const caf::actor& get() const noexcept { return handle_; }

private:
  caf::actor handle_;
};

} // namespace sqlstreams
