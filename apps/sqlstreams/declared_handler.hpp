#pragma once

#include "actors/delivery.hpp"
#include "config/configuration.hpp"

#include <filesystem>

namespace sqlstreams {

/// Returns the handler that a file declares.
/// @param folder of the file: a command written with a slash is looked up from
///   there, so that a file and its scripts can be moved together; one without
///   is looked up in PATH
/// @throws error command_not_found; invalid_configuration for a kind of handler
///   that this version does not run
message_handler make_declared_handler(const handler_declaration& declared,
                                      const std::filesystem::path& folder);

} // namespace sqlstreams
