#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `consumer list|get|lag|exceptions`. Both arguments outlive the parsing
/// and the command.
void add_consumer_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
