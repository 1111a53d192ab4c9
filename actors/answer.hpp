#pragma once

#include <caf/response_promise.hpp>

namespace sqlstreams {

/// An answer that is owed. CAF 0.17 never answers a promise that was dropped,
/// so the asker would wait out its deadline; this one answers actor_failed when
/// it goes without having been given, even if its actor is killed.
class answer {
public:
  explicit answer(caf::response_promise promise)
    : promise_{std::move(promise)} {}
  answer(answer&& other) noexcept = default;
  answer& operator=(answer&& other) = delete;
  answer(const answer&) = delete;
  ~answer();

  /// Answers; the first call counts.
  template <class T>
  void give(T&& value) {
    if (promise_.pending())
      promise_.deliver(std::forward<T>(value));
  }

private:
  caf::response_promise promise_;
};

} // namespace sqlstreams
