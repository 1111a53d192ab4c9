#pragma once

#include "config/configuration.hpp"
#include "config/option_table.hpp"

namespace sqlstreams {

/// Reads a whole parsed file; mistakes go to the log.
configuration read_tree(const toml_node& root, findings_log& log);

} // namespace sqlstreams
