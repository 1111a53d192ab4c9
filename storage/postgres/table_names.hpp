#pragma once
// The one place where identifiers come from.

#include "storage/message.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace sqlstreams {

/// What stands behind the placeholders of an SQL text.
struct table_names {
  std::string schema;              ///< checked by `check_schema_name`
  stream_id stream = 0;            ///< for {stream}
  std::int64_t partition_size = 0; ///< for {partition_size}
};

/// Returns the text with its placeholders filled in: {schema} becomes the
/// quoted schema, {schema_text} its bare name, {lock_class} the class of
/// advisory locks, {stream} and {partition_size} numbers. Other braces stay.
std::string named(std::string_view sql, const table_names& names);

/// As above, for SQL that uses only the first two.
std::string named(std::string_view sql, const std::string& schema,
                  stream_id stream = 0);

/// Returns the first key of an installation's advisory locks: from its schema's
/// name alone, not negative.
std::int32_t lock_class(std::string_view schema) noexcept;

} // namespace sqlstreams
