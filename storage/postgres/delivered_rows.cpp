#include "storage/postgres/delivered_rows.hpp"

#include "config/error.hpp"
#include "config/options_json.hpp"
#include "storage/postgres/message_columns.hpp"

#include <nlohmann/json.hpp>

namespace sqlstreams {
namespace {

std::string_view view(const pqxx::field& from) {
  return {from.c_str(), from.size()};
}

std::string text(const pqxx::field& from) { return std::string{view(from)}; }

int column(const pqxx::result& rows, const char* name) {
  return static_cast<int>(rows.column_number(name));
}

void read_headers(message& to, const pqxx::field& from) {
  try {
    to.headers = nlohmann::json::parse(view(from)).get<message_headers>();
  } catch (const nlohmann::json::exception& e) {
    to.defect = std::string{"headers: "} + e.what();
  }
}

void read_options(message& to, const pqxx::field& from) {
  try {
    to.options = message_options_from_text(view(from), unknown_fields::ignore);
  } catch (const error& e) {
    to.defect = "options: " + e.detail();
  }
}

} // namespace

timestamp timestamp_from(std::int64_t microseconds) {
  return timestamp{std::chrono::microseconds{microseconds}};
}

delivered_rows::delivered_rows(const pqxx::result& rows)
  : rows_{rows}, answer_{column(rows, "answer")}, token_{column(rows, "token")},
    id_{column(rows, "id")}, schema_version_{column(rows, "schema_version")},
    routing_key_{column(rows, "routing_key")},
    message_key_{column(rows, "message_key")}, payload_{column(rows,
                                                               "payload")},
    payload_bytes_{column(rows, "payload_bytes")},
    content_type_{column(rows, "content_type")}, headers_{column(rows,
                                                                 "headers")},
    options_{column(rows, "options")}, created_us_{column(rows, "created_us")} {
}

pqxx::field delivered_rows::at(std::size_t row, int column) const {
  return rows_[static_cast<pqxx::result::size_type>(row)][column];
}

bool delivered_rows::has_answer(std::size_t row) const {
  return !at(row, answer_).is_null();
}

bool delivered_rows::has_message(std::size_t row) const {
  return !at(row, id_).is_null();
}

nlohmann::json delivered_rows::answer(std::size_t row) const {
  return nlohmann::json::parse(view(at(row, answer_)));
}

std::string delivered_rows::token(std::size_t row) const {
  return text(at(row, token_));
}

message delivered_rows::read(std::size_t row) const {
  message out;
  out.id = at(row, id_).as<message_id>();
  out.schema_version = at(row, schema_version_).as<int>();
  out.routing_key = text(at(row, routing_key_));
  out.message_key = text(at(row, message_key_));
  out.content_type = text(at(row, content_type_));
  out.payload = out.content_type.empty()
                  ? text(at(row, payload_))
                  : bytes_from_hex(view(at(row, payload_bytes_)));
  out.created_at = timestamp_from(at(row, created_us_).as<std::int64_t>());
  if (!at(row, headers_).is_null())
    read_headers(out, at(row, headers_));
  if (!at(row, options_).is_null())
    read_options(out, at(row, options_));
  return out;
}

} // namespace sqlstreams
