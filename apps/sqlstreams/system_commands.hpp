#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `system register|get`. Both arguments outlive the parsing and the
/// command.
void add_system_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
