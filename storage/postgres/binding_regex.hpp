#pragma once

#include <string>
#include <string_view>

namespace sqlstreams {

/// Returns a binding pattern as PostgreSQL regular expression: `*` stands for
/// any run of characters, everything else for itself; anchored at both ends.
std::string binding_regex(std::string_view pattern);

} // namespace sqlstreams
