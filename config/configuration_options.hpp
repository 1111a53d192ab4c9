#pragma once
// The keys of every section of a configuration file: one line an option.

#include "config/configuration.hpp"
#include "config/option_table.hpp"

namespace sqlstreams {

const option_table<database_config>& database_options();
const option_table<node_config>& node_options();
const option_table<consume_options>& consume_option_table();

/// Everything in `[streams.NAME]` but its groups.
const option_table<stream_declaration>& stream_options();

/// Everything in `[streams.NAME.groups.GROUP]`.
const option_table<group_declaration>& group_options();

/// All keys of a file; streams and groups stand as NAME and GROUP.
const std::vector<known_key>& all_known_keys();

} // namespace sqlstreams
