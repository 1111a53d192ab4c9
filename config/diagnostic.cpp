#include "config/diagnostic.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

namespace sqlstreams {

namespace {

using enum recovery;

/// A row of kind error.
constexpr diagnostic failure(code number, std::string_view name,
                             recovery recover, std::string_view problem,
                             std::string_view fix,
                             std::string_view diagnose = {}) {
  return {number, name,    diagnostic_kind::error, recover, problem,
          fix,    diagnose};
}

/// A row of kind event: something went on, and somebody should know.
constexpr diagnostic event(code number, std::string_view name,
                           std::string_view problem, std::string_view fix,
                           std::string_view diagnose = {}) {
  return {number, name,    diagnostic_kind::event, transient, problem,
          fix,    diagnose};
}

constexpr std::string_view list_streams =
  "SELECT id, name FROM {schema}.stream_config ORDER BY name";
constexpr std::string_view list_groups =
  "SELECT id, name FROM {schema}.consumer_group_config "
  "WHERE stream_id = {stream_id} ORDER BY name";
constexpr std::string_view list_leases =
  "SELECT * FROM {schema}.claim_lease_{stream_id} ORDER BY expires_at";
constexpr std::string_view list_dead =
  "SELECT message_id, attempts, last_error "
  "FROM {schema}.exception_queue_{stream_id} "
  "WHERE consumer_group_id = {group_id} AND status = 'dead' "
  "ORDER BY message_id";
constexpr std::string_view list_partitions =
  "SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent "
  "= '{schema}.message_log_{stream_id}'::regclass ORDER BY inhrelid";
constexpr std::string_view list_locks =
  "SELECT pid, application_name, state, now() - xact_start AS age "
  "FROM pg_stat_activity WHERE xact_start IS NOT NULL ORDER BY xact_start";
constexpr std::string_view list_migrations =
  "SELECT * FROM {schema}.migration_log ORDER BY 1";

constexpr auto table = std::to_array<diagnostic>({
  failure(code::already_consuming, "already_consuming", permanent,
          "This consumer instance already runs a consume call.",
          "Register another instance, or raise message_concurrency of the one "
          "that runs."),
  failure(code::lease_lost, "lease_lost", permanent,
          "Another consumer took the lease over before the work was recorded.",
          "Nothing: the new holder runs the messages again. If it happens "
          "often, raise message_max.timeout or queue_margin.",
          list_leases),
  failure(code::partition_size_differs, "partition_size_differs", permanent,
          "The declared partition_size is not the stored one.",
          "Declare the stored size: it cannot change once the stream exists.",
          "SELECT config FROM {schema}.stream_config WHERE id = {stream_id}"),
  failure(code::stream_not_found, "stream_not_found", permanent,
          "No stream of this name is registered.",
          "Register the stream first, or correct its name.", list_streams),
  failure(code::reserved_name, "reserved_name", permanent,
          "The name starts with the prefix reserved for the system's own "
          "streams.",
          "Choose a name that does not start with __system."),
  failure(code::group_not_found, "group_not_found", permanent,
          "The stream has no consumer group of this name.",
          "Register the group first, or correct its name.", list_groups),
  failure(code::system_not_registered, "system_not_registered", permanent,
          "The database holds no installation in this schema.",
          "Register the system once (any stream registration by an owner does "
          "so), or correct the schema.",
          "SELECT nspname FROM pg_namespace ORDER BY nspname"),
  failure(code::partition_not_created, "partition_not_created", transient,
          "A partition for new messages could not be made: a lock was not "
          "free in time.",
          "Try again; look for a transaction that holds the message log.",
          list_locks),
  failure(code::commit_reply_lost, "commit_reply_lost", permanent,
          "The connection broke while outcomes were being recorded, and they "
          "cannot be recorded a second time.",
          "Nothing: what was not recorded is delivered again after its lease.",
          list_leases),
  failure(code::schema_older_than_build, "schema_older_than_build", permanent,
          "The database schema is older than this build needs.",
          "Migrate the schema, or run the older build.", list_migrations),
  failure(code::schema_newer_than_build, "schema_newer_than_build", permanent,
          "The database schema needs a newer build than this one.",
          "Upgrade this program.", list_migrations),
  event(code::range_reclaimed, "range_reclaimed",
        "An expired lease was taken over; its messages run again.",
        "Find out why its holder vanished; raise the margins if it was merely "
        "slow.",
        list_leases),
  event(code::range_quarantined, "range_quarantined",
        "A range was reclaimed too often; its messages became exceptions of "
        "their own.",
        "Look for a message that kills its consumer.", list_dead),
  event(code::range_recorded_dead, "range_recorded_dead",
        "Messages of a finished range were recorded as dead.",
        "Read their errors, then redrive or drop them.", list_dead),
  event(code::exception_dead, "exception_dead",
        "A message has used up its attempts and is dead.",
        "Read its error, then redrive or drop it.", list_dead),
  event(code::exceptions_killed, "exceptions_killed",
        "Messages whose consumers vanished beyond the retry budget are dead.",
        "Look for a message that kills its consumer, then redrive or drop it.",
        list_dead),
  event(code::options_clamped, "options_clamped",
        "A message asked for options outside the group's bounds; the bounds "
        "were applied.",
        "Lower what the producer asks for, or widen message_min and "
        "message_max."),
  event(code::partition_not_made_ahead, "partition_not_made_ahead",
        "The next partition could not be made ahead of its use.",
        "Nothing at once: it is made when needed. Look for long transactions "
        "if it recurs.",
        list_partitions),
  event(code::slow_produce, "slow_produce",
        "A produce call took longer than slow_produce_threshold.",
        "Look for locks and slow storage; raise the threshold if this is "
        "normal.",
        list_locks),
  event(code::slow_dispatch, "slow_dispatch",
        "A claimed message waited longer than slow_dispatch_threshold for a "
        "handler.",
        "Raise message_concurrency, or lower batch_limit and queue_size."),
  event(code::session_stopped, "session_stopped",
        "A consumer session stopped; its totals are given.", "Nothing."),
  failure(code::handler_asked_for_delay, "handler_asked_for_delay", transient,
          "The handler asked for a later run.",
          "Nothing: it runs again after the delay."),
  failure(code::handler_says_dead, "handler_says_dead", permanent,
          "The handler says that this message can never succeed.",
          "Correct the cause, then redrive the message, or drop it.",
          list_dead),
  failure(code::partition_cannot_keep_up, "partition_cannot_keep_up", permanent,
          "Ids are drawn faster than partitions can be made for them.",
          "Raise partition_size (of a new stream), and look for something "
          "that draws ids without storing messages.",
          list_partitions),
  event(code::partition_healed, "partition_healed",
        "A produce call found no partition for its ids and made one.",
        "Nothing. If it recurs, a larger partition_size suits the rate.",
        list_partitions),
  event(code::group_config_not_reread, "group_config_not_reread",
        "The group's settings could not be read again; the last known ones "
        "stay in force.",
        "Check the connection and the stored settings.", list_groups),
  event(code::stream_config_replaced, "stream_config_replaced",
        "The stream's stored settings were replaced by a differing "
        "declaration.",
        "If that was not meant, make all programs declare the same settings.",
        "SELECT * FROM {schema}.stream_config_log ORDER BY 1"),
  failure(code::schema_creation_denied, "schema_creation_denied", permanent,
          "The database role may not create the schema.",
          "Let an owner register the system once, or grant CREATE on the "
          "database.",
          "SELECT has_database_privilege(current_database(), 'CREATE')"),
  failure(code::payload_not_encodable, "payload_not_encodable", permanent,
          "The payload could not be encoded.",
          "Correct the value or the type's to_json."),
  event(code::lease_too_short, "lease_too_short",
        "A queued message could no longer start within its lease; the rest of "
        "its range was given back.",
        "Lower batch_limit and queue_size, or raise queue_margin.",
        list_leases),
  event(code::claim_failed, "claim_failed",
        "Claiming messages failed; it is tried again after one poll.",
        "Check the database if it goes on.", list_locks),

  failure(code::invalid_name, "invalid_name", permanent,
          "A name is not acceptable.",
          "Use 1 to 200 of a-z, 0-9, dot, underscore and dash."),
  failure(code::invalid_option, "invalid_option", permanent,
          "An option has an unacceptable value.",
          "Correct the fields that are named."),
  failure(code::invalid_configuration, "invalid_configuration", permanent,
          "The configuration has mistakes.",
          "Correct every finding that is listed; nothing was applied."),
  failure(code::payload_not_json, "payload_not_json", permanent,
          "The payload is not valid JSON.",
          "Correct the text, or give a content type to send bytes."),
  failure(code::text_has_nul, "text_has_nul", permanent,
          "A text holds a NUL character, which PostgreSQL cannot store.",
          "Remove the NUL, or send the payload as bytes with a content type."),
  failure(code::invalid_utf8, "invalid_utf8", permanent,
          "A text is not valid UTF-8.",
          "Convert the text to UTF-8, or send the payload as bytes."),
  failure(code::payload_too_large, "payload_too_large", permanent,
          "The payload is larger than max_payload_bytes.",
          "Send a reference to the data instead, or raise max_payload_bytes "
          "of the stream."),
  failure(code::key_required, "key_required", permanent,
          "The concurrency policy needs a message key, and the message has "
          "none.",
          "Set the key, or use the parallel policy."),
  failure(code::keyed_policy_unsupported, "keyed_policy_unsupported", permanent,
          "This version runs the parallel policy only.",
          "Use parallel for now: exclusive and ordered are refused rather "
          "than ignored."),
  failure(code::invalid_schema_version, "invalid_schema_version", permanent,
          "A schema version must be 1 or more.",
          "Give the payload type a schema_version of at least 1."),
  failure(code::file_unreadable, "file_unreadable", permanent,
          "A file could not be read.",
          "Check that the path names a regular file and that you may read "
          "it."),
  failure(code::usage, "usage", permanent,
          "The command line was not understood.", "See the command's --help."),
  failure(code::unknown_code, "unknown_code", permanent,
          "There is no such code.",
          "Give a code as SQL0005, as 5 or by its name."),
  failure(code::invalid_header, "invalid_header", permanent,
          "A message header is not acceptable.",
          "Give headers as a JSON object of texts, or as name=value."),
  failure(code{1014}, "output_failed", permanent,
          "Standard output could not be written.",
          "Make room on its device, or send it elsewhere; what was done before "
          "is not undone."),
  failure(code::database_unreachable, "database_unreachable", transient,
          "The database cannot be reached.",
          "Check the address, and that the server runs and accepts "
          "connections."),
  failure(code::authentication_failed, "authentication_failed", permanent,
          "The database refused the credentials.",
          "Check user, password and the server's pg_hba.conf."),
  failure(code::database_error, "database_error", permanent,
          "The database refused a statement.",
          "Read the server's message; its SQLSTATE says what it is."),
  failure(code::commit_confirmation_lost, "commit_confirmation_lost", unknown,
          "The connection broke during commit, and whether it took place "
          "cannot be found out.",
          "Check before repeating; an idempotency key makes repeating safe."),
  failure(code::database_interrupted, "database_interrupted", transient,
          "The database ended the statement or the connection; nothing was "
          "done.",
          "Try again.", list_locks),
  failure(code::database_read_only, "database_read_only", transient,
          "The server accepts no writes: it is a standby or set read-only.",
          "Wait for it, or let the address name the primary "
          "(target_session_attrs=read-write).",
          "SELECT pg_is_in_recovery(), current_setting("
          "'default_transaction_read_only')"),
  failure(code::permission_denied, "permission_denied", permanent,
          "The database role lacks a right.",
          "Grant it, or connect as a role that has it.",
          "SELECT current_user, session_user"),
  failure(code::invalid_database_url, "invalid_database_url", permanent,
          "The database address is not acceptable.",
          "Write postgres://user@host:port/database, or key=value pairs as "
          "for psql."),
  failure(code::sequence_unsafe, "sequence_unsafe", permanent,
          "The id sequence or column default of a stream was changed, so that "
          "messages could be skipped.",
          "Restore CACHE 1 and the installation's default before going on.",
          "SELECT * FROM pg_sequences WHERE schemaname = '{schema}'"),
  failure(code::row_not_decodable, "row_not_decodable", permanent,
          "A stored row cannot be understood.",
          "Look at the row: it was written by another version or by hand."),
  failure(code::overloaded, "overloaded", transient,
          "Too many requests wait already.",
          "Slow down, or raise max_waiting."),
  failure(code::shutting_down, "shutting_down", permanent,
          "The program is shutting down and takes no new work.",
          "Start it again."),
  failure(code::no_answer, "no_answer", unknown,
          "No answer came in time; the work may or may not have been done.",
          "Check before repeating; look for a server that is stuck.",
          list_locks),
  failure(code::handler_failed, "handler_failed", transient,
          "The handler failed.",
          "Nothing: the message is tried again as its policy says."),
  failure(code::handler_timed_out, "handler_timed_out", transient,
          "The handler ran longer than its timeout.",
          "Make it faster, let it watch its stop token, or raise the "
          "timeout."),
  failure(code::command_not_found, "command_not_found", permanent,
          "The handler's command cannot be started.",
          "Check the path, and that the file is executable."),
  failure(code::server_binaries_missing, "server_binaries_missing", permanent,
          "The PostgreSQL server programs are not installed.",
          "Install the package postgresql."),
  failure(code::server_not_started, "server_not_started", permanent,
          "The private PostgreSQL server did not start.",
          "Read the end of its log file, which is named."),
  failure(code::actor_failed, "actor_failed", permanent,
          "An internal component ended unexpectedly.",
          "Start the program again and report the message."),
  failure(code::waiter_cancelled, "waiter_cancelled", unknown,
          "The wait for a result was given up; the work itself goes on.",
          "Check before repeating; an idempotency key makes repeating safe."),
  failure(code::binding_waiting, "binding_waiting", transient,
          "The group's new bindings wait for live instances that declare "
          "others.",
          "Stop or update the other instances; consuming starts by itself."),
  failure(code::group_paused, "group_paused", transient,
          "The group is paused: nothing is claimed.", "Resume the group.",
          list_groups),
  failure(code::unsupported_version_of_payload,
          "unsupported_version_of_payload", permanent,
          "The message has a schema version that this consumer does not read.",
          "Run a consumer of that version, or register an upgrade."),
  event(code::cursor_behind_retention, "cursor_behind_retention",
        "The group stood before the oldest retained message; it goes on at "
        "the oldest.",
        "Keep messages longer, or forbid dropping past committed positions.",
        "SELECT * FROM {schema}.consumer_group_cursor_{stream_id}"),
  event(code::claim_held_up, "claim_held_up",
        "An open producer transaction holds the claims of a stream up.",
        "End the transaction that is named.", list_locks),
  event(code::connection_lost, "connection_lost",
        "The connection to the database was lost; it is being made again.",
        "Nothing. If it goes on, check the server."),
  event(code::connection_restored, "connection_restored",
        "The connection to the database is back.", "Nothing."),
  event(code::group_registered_with_defaults, "group_registered_with_defaults",
        "The group did not exist and was registered with default settings.",
        "Register it with the settings you want.", list_groups),
  event(code::handler_abandoned, "handler_abandoned",
        "A handler did not end after its timeout and grace; its result will "
        "be ignored.",
        "Let the handler watch its stop token."),
  event(code::group_config_replaced, "group_config_replaced",
        "The group's stored settings were replaced by a differing "
        "declaration.",
        "If that was not meant, make all programs declare the same settings.",
        list_groups),
});

constexpr bool strictly_ascending() {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (!(table[i - 1].number < table[i].number))
      return false;
  return true;
}
static_assert(strictly_ascending(), "rows are searched by number");

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(
    result.begin(), result.end(), result.begin(),
    [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// Reads `5`, `0005`, `sql5`, `sql0005`.
std::optional<unsigned> parse_number(std::string_view text) {
  if (text.starts_with("sql"))
    text.remove_prefix(3);
  const bool digits =
    !text.empty() && text.size() <= 5
    && text.find_first_not_of("0123456789") == std::string_view::npos;
  if (!digits)
    return std::nullopt;
  unsigned number = 0;
  for (char c : text)
    number = number * 10 + static_cast<unsigned>(c - '0');
  return number;
}

} // namespace

std::span<const diagnostic> all_diagnostics() { return table; }

const diagnostic& find_diagnostic(code number) {
  const auto* row = std::lower_bound(
    table.begin(), table.end(), number,
    [](const diagnostic& d, code wanted) { return d.number < wanted; });
  if (row != table.end() && row->number == number)
    return *row;
  // A number that came over the wire from a newer program.
  return find_diagnostic(code::unknown_code);
}

std::optional<diagnostic> find_diagnostic(std::string_view text) {
  const auto wanted = lower(text);
  const auto number = parse_number(wanted);
  for (const auto& row : table)
    if (row.name == wanted
        || (number && static_cast<unsigned>(row.number) == *number))
      return row;
  return std::nullopt;
}

std::string to_string(code number) {
  char text[16];
  std::snprintf(text, sizeof text, "SQL%04u", static_cast<unsigned>(number));
  return text;
}

std::string_view to_string(recovery value) {
  switch (value) {
  case transient: return "transient";
  case permanent: return "permanent";
  case unknown: return "unknown";
  }
  return "unknown";
}

std::string_view to_string(diagnostic_kind value) {
  switch (value) {
  case diagnostic_kind::error: return "error";
  case diagnostic_kind::event: return "event";
  case diagnostic_kind::metric: return "metric";
  case diagnostic_kind::alert: return "alert";
  }
  return "error";
}

} // namespace sqlstreams
