#include "apps/sqlstreams/session_restarts.hpp"

namespace sqlstreams {

namespace {

/// A session that lived so long has worked: the pauses begin anew.
constexpr std::chrono::minutes healthy_lifetime{5};

} // namespace

session_restarts::session_restarts(session_end_action action,
                                   retry_policy curve)
  : action_{action}, curve_{curve.with_defaults(retry_job::database)} {}

std::optional<std::chrono::nanoseconds>
session_restarts::ended(recovery recover, std::chrono::nanoseconds lifetime) {
  if (action_ == session_end_action::stop || recover == recovery::permanent)
    return std::nullopt;
  if (lifetime >= healthy_lifetime)
    failures_ = 0;
  return curve_.calculate_delay(failures_++);
}

} // namespace sqlstreams
