#pragma once

#include "storage/message.hpp"

#include <string>

namespace sqlstreams {

/// Returns a time as `2026-03-04T05:06:07.123456Z`: UTC, always six digits, so
/// that texts sort as times do.
std::string timestamp_text(timestamp at);

} // namespace sqlstreams
