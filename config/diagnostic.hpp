#pragma once
// The one table of coded conditions: every error, warning event, metric and
// alert that a user can meet has its row in diagnostic.cpp, and nowhere else.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sqlstreams {

/// Whether trying the same thing again, unchanged, can help.
enum class recovery : std::uint8_t {
  transient, ///< nothing was done; an unchanged retry can succeed
  permanent, ///< an unchanged retry fails alike
  unknown,   ///< it may or may not have been done
};

/// What a coded condition is.
enum class diagnostic_kind : std::uint8_t { error, event, metric, alert };

/// The number of a coded condition; printed as `SQL` and four digits. Numbers
/// are never reused. Those below 1000 mean the same as in the Go library
/// (design page 08); those from 1000 on are ours.
enum class code : std::uint16_t {
  // Streams, groups, installation
  already_consuming = 1,
  lease_lost = 3,
  partition_size_differs = 4,
  stream_not_found = 5,
  reserved_name = 9,
  group_not_found = 14,
  system_not_registered = 17,
  partition_not_created = 18,
  commit_reply_lost = 19,
  schema_older_than_build = 22,
  schema_newer_than_build = 23,
  schema_creation_denied = 64,
  partition_cannot_keep_up = 56,
  // What handlers say
  handler_asked_for_delay = 54,
  handler_says_dead = 55,
  payload_not_encodable = 97,
  // Events
  range_reclaimed = 26,
  range_quarantined = 27,
  range_recorded_dead = 28,
  exception_dead = 30,
  exceptions_killed = 31,
  options_clamped = 32,
  partition_not_made_ahead = 33,
  slow_produce = 38,
  slow_dispatch = 39,
  session_stopped = 41,
  partition_healed = 57,
  group_config_not_reread = 60,
  stream_config_replaced = 61,
  lease_too_short = 105,
  claim_failed = 108,
  // Our own: input
  invalid_name = 1000,
  invalid_option = 1001,
  invalid_configuration = 1002,
  payload_not_json = 1003,
  text_has_nul = 1004,
  invalid_utf8 = 1005,
  payload_too_large = 1006,
  key_required = 1007,
  keyed_policy_unsupported = 1008,
  invalid_schema_version = 1009,
  file_unreadable = 1010,
  usage = 1011,
  unknown_code = 1012,
  invalid_header = 1013,
  // Our own: database
  database_unreachable = 1020,
  authentication_failed = 1021,
  database_error = 1022,
  commit_confirmation_lost = 1023,
  database_interrupted = 1024,
  database_read_only = 1025,
  permission_denied = 1026,
  invalid_database_url = 1027,
  sequence_unsafe = 1028,
  row_not_decodable = 1029,
  // Our own: process
  overloaded = 1040,
  shutting_down = 1041,
  no_answer = 1042,
  handler_failed = 1043,
  handler_timed_out = 1044,
  command_not_found = 1045,
  server_binaries_missing = 1046,
  server_not_started = 1047,
  actor_failed = 1048,
  waiter_cancelled = 1049,
  binding_waiting = 1050,
  group_paused = 1051,
  unsupported_version_of_payload = 1052,
  // Our own: events
  cursor_behind_retention = 1060,
  claim_held_up = 1061,
  connection_lost = 1062,
  connection_restored = 1063,
  group_registered_with_defaults = 1064,
  handler_abandoned = 1065,
  group_config_replaced = 1066,
};

/// One row of the table. The texts live as long as the program.
struct diagnostic {
  code number;
  std::string_view name; ///< snake_case, unique
  diagnostic_kind kind;
  recovery recover;          ///< meaningful for errors only
  std::string_view problem;  ///< one sentence: what is the case
  std::string_view fix;      ///< one sentence: what to do about it
  std::string_view diagnose; ///< a query that shows more; may be empty
};

/// Returns all rows, ordered by number.
std::span<const diagnostic> all_diagnostics();

/// Returns the row of a code. Every enumerator has one (a unit test sees to
/// it).
const diagnostic& find_diagnostic(code number);

/// Finds a row by what a person types: `SQL0005`, `sql5`, `5`,
/// `stream_not_found`.
std::optional<diagnostic> find_diagnostic(std::string_view text);

/// Returns `SQL0005` for `code::stream_not_found`.
std::string to_string(code number);

/// Returns "transient", "permanent" or "unknown".
std::string_view to_string(recovery value);

/// Returns "error", "event", "metric" or "alert".
std::string_view to_string(diagnostic_kind value);

} // namespace sqlstreams
