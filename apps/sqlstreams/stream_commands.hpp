#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `stream list|get`. Both arguments outlive the parsing and the command.
void add_stream_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
