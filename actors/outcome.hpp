#pragma once
// What a handler answers.

#include "config/outcome_kind.hpp"

#include <chrono>
#include <stdexcept>
#include <string>

namespace sqlstreams {

/// The result of handling one message. Make it with `done()`, `retry()`,
/// `dead()` or `delay()`.
struct outcome {
  outcome_kind kind = outcome_kind::done;
  std::string error{};              ///< why it did not end well; any text
  std::chrono::nanoseconds delay{}; ///< for `delay` only, > 0

  bool operator==(const outcome&) const = default;
};

/// The message is handled.
inline outcome done() { return {}; }

/// The message could not be handled now; it comes again by the retry policy.
inline outcome retry(std::string error) {
  return {outcome_kind::retry, std::move(error), {}};
}

/// The message can never be handled; it is kept as a dead letter.
inline outcome dead(std::string error) {
  return {outcome_kind::dead, std::move(error), {}};
}

/// The message is to run again after `duration`; spends no retry.
inline outcome delay(std::chrono::nanoseconds duration, std::string why = {}) {
  return {outcome_kind::delay, std::move(why), duration};
}

/// Thrown by a handler: as `dead(what())`. Any other exception is a retry.
class permanent_failure : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

} // namespace sqlstreams
