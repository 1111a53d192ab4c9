#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `config check|print FILE`, neither of which needs a database. Both
/// arguments outlive the parsing and the command.
void add_config_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
