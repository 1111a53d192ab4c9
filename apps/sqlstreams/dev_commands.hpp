#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `dev start|stop|status|url|psql|destroy`: a private PostgreSQL for
/// development. Both arguments outlive the parsing and the command.
void add_dev_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
