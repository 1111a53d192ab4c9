#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `explain [CODE]`: what a coded condition means and what to do about
/// it. Needs no database. Both arguments outlive the parsing and the command.
void add_explain_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
