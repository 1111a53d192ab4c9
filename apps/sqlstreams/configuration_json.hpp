#pragma once

#include "config/configuration.hpp"

#include <string>

namespace sqlstreams {

/// Returns a configuration as one line of JSON: effective values, defaults
/// filled in, secrets masked. Settings that are stored appear as they are
/// stored (durations in nanoseconds), those of an instance as in TOML. Pure.
std::string configuration_json(const configuration& value);

} // namespace sqlstreams
