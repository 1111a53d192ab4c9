#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `apply FILE`: registers what a file declares. Both arguments outlive
/// the parsing and the command.
void add_apply_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
