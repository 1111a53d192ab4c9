#pragma once
// What PostgreSQL's SQLSTATEs mean for us: the one table.

#include "config/diagnostic.hpp"

#include <cstdint>
#include <string_view>

namespace sqlstreams {

/// How far a statement had come when it failed.
enum class statement_stage : std::uint8_t {
  open,       ///< in a transaction that had not been asked to commit
  committing, ///< its commit had been sent: by COMMIT, or with the statement
};

/// What a failure means.
struct sqlstate_meaning {
  code number;
  recovery recover;

  bool operator==(const sqlstate_meaning&) const = default;
};

/// Returns the meaning of a five-character SQLSTATE; one that is not in the
/// table is a permanent `database_error`. The empty text stands for a
/// connection that broke without a word.
sqlstate_meaning classify_sqlstate(std::string_view sqlstate,
                                   statement_stage stage) noexcept;

/// SQLSTATEs of our own SQL functions.
namespace sqlstate {
inline constexpr std::string_view wrong_isolation = "SQ001";
inline constexpr std::string_view group_missing = "SQ002";
inline constexpr std::string_view stream_missing = "SQ003";
inline constexpr std::string_view message_refused = "SQ004";
inline constexpr std::string_view check_violation = "23514";
} // namespace sqlstate

/// Returns whether the SQLSTATE says that a table, function or schema is not
/// there.
bool is_missing_object(std::string_view sqlstate) noexcept;

/// Returns whether the SQLSTATE is about the data of a statement: another row
/// may pass where this one does not.
bool is_data_refusal(std::string_view sqlstate) noexcept;

} // namespace sqlstreams
