#pragma once

#include "apps/sqlstreams/context.hpp"
#include "config/error.hpp"

#include <exception>
#include <string>

namespace sqlstreams {

/// Returns a failure as it is shown on standard error: in text code, what
/// happened and the fix; in JSON one object on one line, `{"error":{...}}` with
/// `code`, `name`, `problem` (the general sentence), `detail`, `recovery` and
/// `fix`, and for a configuration file its `findings` with their positions.
std::string failure_text(const error& failure, output_format format);

/// Prints that; foreign exceptions by their text alone.
void print_failure(const std::exception& failure, output_format format);

} // namespace sqlstreams
