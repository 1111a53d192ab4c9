#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `consume STREAM`, as a member of a group or, with `--tail`, reading
/// along without one. Both arguments outlive the parsing and the command.
void add_consume_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
