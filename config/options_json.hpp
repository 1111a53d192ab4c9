#pragma once
// The stored form of options: JSON objects with the fields' own names, unset
// fields left out, durations as whole nanoseconds, instants as nanoseconds
// since 1970 (UTC). One form only, so that equal values are equal documents.

#include "config/consumer_config.hpp"
#include "config/message_options.hpp"
#include "config/stream_config.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace sqlstreams {

/// What to do with fields of a document that this build does not know.
enum class unknown_fields : std::uint8_t {
  refuse, ///< somebody's typing mistake
  ignore, ///< a stored document that a newer build may have written
};

/// Sparse documents; what `json(value)` and `json.get<T>()` use. Reading
/// refuses unknown fields.
/// @throws error code::invalid_option naming the field that is unknown, of the
///   wrong type or out of range
void to_json(nlohmann::json& to, const retry_policy& from);
void to_json(nlohmann::json& to, const message_options& from);
void to_json(nlohmann::json& to, const consumer_config& from);
void to_json(nlohmann::json& to, const stream_config& from);
void from_json(const nlohmann::json& from, retry_policy& to);
void from_json(const nlohmann::json& from, message_options& to);
void from_json(const nlohmann::json& from, consumer_config& to);
void from_json(const nlohmann::json& from, stream_config& to);

/// Returns the document as text; "{}" if everything is unset.
std::string to_json_text(const message_options& value);
std::string to_json_text(const consumer_config& value);
std::string to_json_text(const stream_config& value);

/// Read a document's text.
/// @throws error code::invalid_option if it is no JSON object or a field is
///   wrong
message_options
message_options_from_text(std::string_view text,
                          unknown_fields unknown = unknown_fields::refuse);
consumer_config
consumer_config_from_text(std::string_view text,
                          unknown_fields unknown = unknown_fields::refuse);
stream_config
stream_config_from_text(std::string_view text,
                        unknown_fields unknown = unknown_fields::refuse);

/// Returns "retention: unset -> 30d, janitor.poll_rate: 5s -> 1s"; empty if
/// nothing differs.
std::string describe_changes(const consumer_config& before,
                             const consumer_config& after);
std::string describe_changes(const stream_config& before,
                             const stream_config& after);

} // namespace sqlstreams
