#pragma once

#include "apps/sqlstreams/context.hpp"

namespace sqlstreams {

/// Adds `produce STREAM [PAYLOAD]`. Both arguments outlive the parsing and the
/// command.
///
/// Of `--file` and `--stdin` each line is a message, read and sent in batches
/// as it comes, in order. A line that cannot be produced ends the command with
/// status 1 and its number, after those before it were produced; with
/// `--skip-invalid` it is reported, the rest goes on, and the status is 1 all
/// the same. Empty lines are passed over.
void add_produce_commands(CLI::App& app, context& ctx);

} // namespace sqlstreams
