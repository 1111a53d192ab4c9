#include "storage/postgres/sqlstate.hpp"

#include <array>

namespace sqlstreams {
namespace {

/// Whether a row holds for both stages.
enum class when_committing : std::uint8_t {
  same,
  doubtful, ///< the server may have committed before it failed
};

struct row {
  std::string_view prefix; ///< a whole SQLSTATE, or its class
  code number;
  recovery recover;
  when_committing commit = when_committing::same;
};

using enum recovery;
using enum when_committing;

// The longest prefix that fits decides. See "PostgreSQL Error Codes" in the
// PostgreSQL manual for the names.
constexpr std::array table{
  // No word from the server, or words about the connection.
  row{"08", code::database_interrupted, transient, doubtful},
  row{"08001", code::database_unreachable, transient},
  row{"08004", code::database_unreachable, transient},
  // Also what a pooler says when the server behind it went away.
  row{"08P01", code::database_interrupted, transient, doubtful},
  // The server ends a session: if it had been asked to commit, the end may have
  // come just after the commit and before its reply.
  row{"57P01", code::database_interrupted, transient, doubtful},
  row{"57P02", code::database_interrupted, transient, doubtful},
  row{"57P03", code::database_unreachable, transient}, // starting, stopping
  row{"57P04", code::database_error, permanent},       // database dropped
  row{"57P05", code::database_interrupted, transient}, // idle too long
  row{"57014", code::database_interrupted, transient}, // statement_timeout
  row{"25P03", code::database_interrupted, transient}, // idle in transaction
  // A standby, a server in recovery, a default of read-only transactions.
  row{"25006", code::database_read_only, transient},
  // Others' transactions.
  row{"40", code::database_interrupted, transient},
  row{"40002", code::database_error, permanent}, // a deferred constraint
  row{"40003", code::commit_confirmation_lost, recovery::unknown},
  row{"55P03", code::database_interrupted, transient}, // lock_timeout
  row{"55006", code::database_interrupted, transient}, // object in use
  // Resources: connections, memory, disk.
  row{"53", code::database_interrupted, transient},
  row{"53300", code::database_unreachable, transient},
  row{"58030", code::database_interrupted, transient}, // input/output
  // Who we are and what we may.
  row{"28", code::authentication_failed, permanent},
  row{"3D000", code::invalid_database_url, permanent},
  row{"42501", code::permission_denied, permanent},
  // What is not there. A statement on a stream's tables says so by itself.
  row{"3F000", code::system_not_registered, permanent},
  row{"42P01", code::system_not_registered, permanent},
  row{"42883", code::system_not_registered, permanent},
  // Our functions.
  row{"SQ002", code::group_not_found, permanent},
  row{"SQ003", code::stream_not_found, permanent},
};

} // namespace

sqlstate_meaning classify_sqlstate(std::string_view sqlstate,
                                   statement_stage stage) noexcept {
  if (sqlstate.empty())
    sqlstate = "08006"; // connection failure
  row best{"", code::database_error, permanent};
  for (const auto& candidate : table) {
    if (sqlstate.starts_with(candidate.prefix)
        && candidate.prefix.size() > best.prefix.size())
      best = candidate;
  }
  if (stage == statement_stage::committing
      && best.commit == when_committing::doubtful)
    return {code::commit_confirmation_lost, recovery::unknown};
  return {best.number, best.recover};
}

bool is_missing_object(std::string_view sqlstate) noexcept {
  return sqlstate == "42P01" || sqlstate == "42883" || sqlstate == "3F000";
}

bool is_data_refusal(std::string_view sqlstate) noexcept {
  return sqlstate.starts_with("22") || sqlstate.starts_with("23")
         || sqlstate.starts_with("54");
}

} // namespace sqlstreams
