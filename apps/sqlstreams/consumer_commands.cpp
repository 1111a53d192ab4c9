#include "apps/sqlstreams/consumer_commands.hpp"

#include "actors/json_line.hpp"
#include "actors/timestamp_text.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/text_table.hpp"
#include "config/duration.hpp"
#include "config/error.hpp"
#include "config/options_json.hpp"

#include <memory>
#include <optional>
#include <vector>

namespace sqlstreams {

namespace {

using enum text_table::alignment;

/// What the verbs take.
struct selection {
  std::string stream;
  std::string group;
  std::string status;
  message_id after = 0;
  std::size_t limit = 100;
};

json_line as_json_line(const group_info& group, const std::string& stream) {
  json_line line;
  line.add("name", group.name)
    .add("stream", stream)
    .add("id", group.id)
    .add("created_at", timestamp_text(group.created_at))
    .add_json("config", to_json_text(group.config));
  return line;
}

std::string as_json(const group_info& group, const std::string& stream) {
  return as_json_line(group, stream).str() + '\n';
}

/// A group with where it stands, or why that cannot be told: a group whose rows
/// were damaged by hand must not hide the others.
struct listed_group {
  group_info group;
  group_lag lag{};
  std::optional<error> failure{};
};

listed_group look_at(const client& db, const std::string& stream,
                     const group_info& group) {
  listed_group found{group};
  try {
    found.lag = db.stream(stream).consumer(group.name).lag();
  } catch (const error& e) {
    if (e.recover() != recovery::permanent)
      throw; // not this group's alone
    found.failure = e;
  }
  return found;
}

std::string as_json(const listed_group& found, const std::string& stream) {
  auto line = as_json_line(found.group, stream);
  if (found.failure)
    line.add("error", found.failure->what());
  else
    line.add("committed", found.lag.committed)
      .add("backlog", found.lag.backlog)
      .add("ready", found.lag.ready)
      .add("deferred", found.lag.deferred)
      .add("dead", found.lag.dead);
  return line.str() + '\n';
}

std::string backlog_text(const group_lag& lag) {
  return (lag.backlog_estimated ? "~" : "") + std::to_string(lag.backlog);
}

std::string list_as_table(const std::vector<listed_group>& groups) {
  text_table table{{{"GROUP"},
                    {"ID", right},
                    {"COMMITTED", right},
                    {"BACKLOG", right},
                    {"READY", right},
                    {"DEFERRED", right},
                    {"DEAD", right},
                    {"STATE"}}};
  for (const auto& [group, lag, failure] : groups) {
    if (failure) {
      table.add_row({group.name, std::to_string(group.id), "-", "-", "-", "-",
                     "-", "error: " + failure->detail()});
      continue;
    }
    table.add_row({group.name, std::to_string(group.id),
                   std::to_string(lag.committed), backlog_text(lag),
                   std::to_string(lag.ready), std::to_string(lag.deferred),
                   std::to_string(lag.dead),
                   group.config.paused ? "paused" : "active"});
  }
  return table.render(output_width());
}

int list(const selection& what, const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  require_stream(db, what.stream);
  std::vector<listed_group> groups;
  for (const auto& group : db.stream(what.stream).groups())
    groups.push_back(look_at(db, what.stream, group));
  std::string text;
  if (!ctx.json())
    text = groups.empty() ? "no consumer groups\n" : list_as_table(groups);
  else
    for (const auto& group : groups)
      text += as_json(group, what.stream);
  return write_out(text) ? 0 : 1;
}

std::string as_text(const group_info& group, const std::string& stream) {
  const auto config = group.config.with_defaults();
  return "group " + group.name + " of stream " + stream + "\n  id       "
         + std::to_string(group.id) + "\n  created  "
         + timestamp_text(group.created_at) + "\n  state    "
         + (config.paused ? "paused" : "active") + "\n  timeout  "
         + format_duration(config.message.timeout) + "\n  declared "
         + to_json_text(group.config) + '\n';
}

int get(const selection& what, const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  const auto group = require_group(db, what.stream, what.group);
  return write_out(ctx.json() ? as_json(group, what.stream)
                              : as_text(group, what.stream))
           ? 0
           : 1;
}

std::string as_json(const group_lag& lag, const selection& what) {
  return json_line{}
           .add("stream", what.stream)
           .add("group", what.group)
           .add("backlog", lag.backlog)
           .add("backlog_estimated", lag.backlog_estimated)
           .add("head", lag.head)
           .add("claimed", lag.claimed)
           .add("committed", lag.committed)
           .add("ready", lag.ready)
           .add("inflight", lag.inflight)
           .add("deferred", lag.deferred)
           .add("dead", lag.dead)
           .add("open_leases", lag.open_leases)
           .str()
         + '\n';
}

std::string as_text(const group_lag& lag) {
  text_table table{{{"BACKLOG", right},
                    {"HEAD", right},
                    {"CLAIMED", right},
                    {"COMMITTED", right},
                    {"READY", right},
                    {"INFLIGHT", right},
                    {"DEFERRED", right},
                    {"DEAD", right},
                    {"OPEN LEASES", right}}};
  table.add_row({backlog_text(lag), std::to_string(lag.head),
                 std::to_string(lag.claimed), std::to_string(lag.committed),
                 std::to_string(lag.ready), std::to_string(lag.inflight),
                 std::to_string(lag.deferred), std::to_string(lag.dead),
                 std::to_string(lag.open_leases)});
  return table.render(output_width());
}

int lag(const selection& what, const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  require_group(db, what.stream, what.group);
  const auto result = db.stream(what.stream).consumer(what.group).lag();
  return write_out(ctx.json() ? as_json(result, what) : as_text(result)) ? 0
                                                                         : 1;
}

std::string as_json(const exception_row& row) {
  return json_line{}
           .add("id", row.id)
           .add("status", to_string(row.status))
           .add("attempts", row.attempts)
           .add("delays", row.delays)
           .add_optional("message_key", row.message_key)
           .add("can_run_after", timestamp_text(row.can_run_after))
           .add("last_error", row.last_error)
           .add("created_at", timestamp_text(row.created_at))
           .str()
         + '\n';
}

std::string as_table(const std::vector<exception_row>& rows) {
  text_table table{{{"ID", right},
                    {"STATUS"},
                    {"ATTEMPTS", right},
                    {"DELAYS", right},
                    {"RUNS AFTER"},
                    {"ERROR"}}};
  for (const auto& row : rows)
    table.add_row({std::to_string(row.id), std::string(to_string(row.status)),
                   std::to_string(row.attempts), std::to_string(row.delays),
                   timestamp_text(row.can_run_after), row.last_error});
  return table.render(output_width());
}

int exceptions(const selection& what, const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  require_group(db, what.stream, what.group);
  std::optional<exception_status> status;
  if (!what.status.empty())
    status = parse_exception_status(what.status);
  const auto rows = db.stream(what.stream)
                      .consumer(what.group)
                      .exceptions(status, what.after, what.limit);
  std::string text;
  if (!ctx.json())
    text = rows.empty() ? "no exceptions\n" : as_table(rows);
  else
    for (const auto& row : rows)
      text += as_json(row);
  return write_out(text) ? 0 : 1;
}

using verb = int (*)(const selection&, const context&);

/// Adds a verb on one group.
CLI::App* add_verb(CLI::App& parent, context& ctx, const char* name,
                   const char* help, verb run,
                   const std::shared_ptr<selection>& what) {
  auto* command = parent.add_subcommand(name, help);
  command->add_option("STREAM", what->stream, "name of the stream")->required();
  command->callback([&ctx, run, what] {
    ctx.action = [&ctx, run, what] {
      return run(*what, ctx);
    };
  });
  return command;
}

void add_group_option(CLI::App& command, selection& what) {
  command.add_option("GROUP", what.group, "name of the group")->required();
}

} // namespace

void add_consumer_commands(CLI::App& app, context& ctx) {
  auto* parent = app.add_subcommand("consumer", "Look at consumer groups");
  parent->require_subcommand(1);
  auto what = std::make_shared<selection>();
  add_verb(*parent, ctx, "list", "The groups of a stream", list, what);
  add_group_option(
    *add_verb(*parent, ctx, "get", "One group and its settings", get, what),
    *what);
  add_group_option(
    *add_verb(*parent, ctx, "lag", "Where a group stands", lag, what), *what);
  auto* rows =
    add_verb(*parent, ctx, "exceptions",
             "Messages of a group that did not end well", exceptions, what);
  add_group_option(*rows, *what);
  rows->add_option("--status", what->status, "only these")
    ->type_name("ready|inflight|deferred|dead")
    ->check(
      CLI::IsMember({"ready", "inflight", "deferred", "dead"}).description(""));
  rows->add_option("--after", what->after, "only ids above this one")
    ->check(CLI::NonNegativeNumber.description(""));
  rows->add_option("--limit", what->limit, "rows at most")
    ->capture_default_str()
    ->check(CLI::PositiveNumber.description(""));
}

} // namespace sqlstreams
