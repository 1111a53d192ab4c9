#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `run FILE`: a node that registers what a file declares and consumes
/// each group that has a handler, until SIGTERM or SIGINT. Both arguments
/// outlive the parsing and the command.
void add_run_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
