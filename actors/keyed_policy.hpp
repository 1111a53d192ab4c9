#pragma once

#include "config/consumer_config.hpp"

#include <string>

namespace sqlstreams {

/// Refuses a group whose messages would run under a keyed policy: this version
/// runs them in parallel only, and must not do so where order was asked for.
/// @param subject what is checked, e.g. "group billing"
/// @throws error keyed_policy_unsupported
void refuse_keyed_policy(const consumer_config& config,
                         const std::string& subject);

} // namespace sqlstreams
