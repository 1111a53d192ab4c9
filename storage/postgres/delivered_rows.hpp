#pragma once

#include "storage/message.hpp"

#include <pqxx/result>

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace sqlstreams {

/// Reads rows of the SQL type `delivered`. Borrows the result.
class delivered_rows {
public:
  explicit delivered_rows(const pqxx::result& rows);

  [[nodiscard]] std::size_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] bool has_answer(std::size_t row) const;
  [[nodiscard]] bool has_message(std::size_t row) const;

  /// @pre has_answer(row)
  [[nodiscard]] nlohmann::json answer(std::size_t row) const;

  /// What cannot be decoded is told in the message's `defect`.
  /// @pre has_message(row)
  [[nodiscard]] message read(std::size_t row) const;

  [[nodiscard]] std::string token(std::size_t row) const;

private:
  [[nodiscard]] pqxx::field at(std::size_t row, int column) const;

  const pqxx::result& rows_;
  int answer_, token_, id_, schema_version_, routing_key_, message_key_,
    payload_, payload_bytes_, content_type_, headers_, options_, created_us_;
};

/// Returns microseconds since 1970 as a time.
timestamp timestamp_from(std::int64_t microseconds);

} // namespace sqlstreams
