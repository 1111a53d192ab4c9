#pragma once

#include <string_view>

namespace sqlstreams {

/// Returns whether PostgreSQL can keep a JSON number: jsonb holds numbers as
/// numeric, which has room for 131,072 digits before the point and 16,383 after
/// it (PostgreSQL manual, "Numeric Types").
/// @pre the text is a number as JSON writes it
[[nodiscard]] bool fits_numeric(std::string_view number) noexcept;

} // namespace sqlstreams
