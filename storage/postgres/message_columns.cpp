#include "storage/postgres/message_columns.hpp"

#include "config/options_json.hpp"
#include "storage/idempotency_uuid.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace sqlstreams {
namespace {

int digit(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

} // namespace

std::string hex(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (unsigned char byte : bytes) {
    out += "0123456789abcdef"[byte >> 4];
    out += "0123456789abcdef"[byte & 15];
  }
  return out;
}

std::string bytes_from_hex(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 2);
  for (std::size_t at = 2; at + 1 < text.size(); at += 2)
    out += static_cast<char>(digit(text[at]) * 16 + digit(text[at + 1]));
  return out;
}

std::optional<std::string> headers_column(const message_headers& headers) {
  if (headers.empty())
    return std::nullopt;
  return nlohmann::json(headers).dump();
}

std::optional<std::string> options_column(const message_options& options) {
  if (options == message_options{})
    return std::nullopt;
  return to_json_text(options);
}

void array_text::separate() {
  if (text_.size() > 1)
    text_ += ',';
}

void array_text::add(std::string_view element) {
  separate();
  text_.reserve(text_.size() + element.size() + 16);
  text_ += '"';
  while (!element.empty()) {
    const auto special = element.find_first_of("\"\\");
    text_ += element.substr(0, special);
    if (special == std::string_view::npos)
      break;
    text_ += '\\';
    text_ += element[special];
    element.remove_prefix(special + 1);
  }
  text_ += '"';
}

void array_text::add_null() {
  separate();
  text_ += "NULL";
}

void array_text::add_or_null(std::string_view element) {
  element.empty() ? add_null() : add(element);
}

std::string array_text::finish() && {
  text_ += '}';
  return std::move(text_);
}

batch_columns::batch_columns(const std::vector<new_message>& messages) {
  array_text payload, routing, key, type, header, option, idempotency, version;
  for (const auto& one : messages) {
    payload.add(one.content_type.empty() ? one.payload : hex(one.payload));
    routing.add_or_null(one.routing_key);
    key.add_or_null(one.message_key);
    type.add_or_null(one.content_type);
    header.add_or_null(headers_column(one.headers).value_or(""));
    option.add_or_null(options_column(one.options).value_or(""));
    idempotency.add_or_null(
      one.idempotency_key.empty() ? "" : idempotency_uuid(one.idempotency_key));
    version.add(std::to_string(one.schema_version));
  }
  payloads = std::move(payload).finish();
  routing_keys = std::move(routing).finish();
  message_keys = std::move(key).finish();
  content_types = std::move(type).finish();
  headers = std::move(header).finish();
  options = std::move(option).finish();
  idempotency_keys = std::move(idempotency).finish();
  schema_versions = std::move(version).finish();
}

} // namespace sqlstreams
