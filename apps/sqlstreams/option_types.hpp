#pragma once
// Kinds of values on the command line that CLI11 does not know.

#include <CLI/CLI.hpp>

#include <chrono>
#include <map>
#include <string>

namespace sqlstreams {

/// Adds an option that takes a duration such as `250ms` or `1h30m`; anything
/// else is a usage error.
CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::nanoseconds& target,
                          const std::string& help);

/// Adds a repeatable option that takes `name=value`; anything else, and a name
/// given twice, is a usage error.
CLI::Option* add_pairs(CLI::App& command, const std::string& name,
                       std::map<std::string, std::string>& target,
                       const std::string& help);

} // namespace sqlstreams
