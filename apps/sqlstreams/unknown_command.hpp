#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sqlstreams {

/// Looks for a word that stands where a command should, but is none.
/// @param words of the command line, without the program
/// @returns what to say about it, with the nearest command if one is near;
///   empty if all commands are known
std::optional<std::string>
describe_unknown_command(const CLI::App& app,
                         const std::vector<std::string>& words);

} // namespace sqlstreams
