#pragma once
// Messages as PostgreSQL takes them.

#include "storage/message.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// Bytes as hexadecimal digits.
std::string hex(std::string_view bytes);

/// Reads what PostgreSQL writes for bytea: \x and hexadecimal digits.
std::string bytes_from_hex(std::string_view text);

/// Headers and options as JSON; empty if there are none, which is stored as
/// NULL.
std::optional<std::string> headers_column(const message_headers& headers);
std::optional<std::string> options_column(const message_options& options);

/// Collects the text of an array parameter.
class array_text {
public:
  void add(std::string_view element);
  void add_null();

  /// Adds the element, or NULL if it is empty.
  void add_or_null(std::string_view element);

  /// Returns the array; nothing can be added afterwards.
  std::string finish() &&;

private:
  void separate();

  std::string text_ = "{";
};

/// The parameters of `produce_batch_N`, in its order.
struct batch_columns {
  explicit batch_columns(const std::vector<new_message>& messages);

  std::string payloads, routing_keys, message_keys, content_types, headers,
    options, idempotency_keys, schema_versions;
};

} // namespace sqlstreams
