#include "actors/exec_handler.hpp"

#include "actors/child_command.hpp"
#include "config/error.hpp"
#include "config/text_checks.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <set>
#include <string_view>
#include <unistd.h>

namespace sqlstreams {

namespace {

constexpr int status_dead = 65; // EX_DATAERR of <sysexits.h>

constexpr std::string_view prefix = "SQLSTREAMS_";

/// What describes a message: the command gets its own, never those of a
/// message whose handler we might be.
constexpr std::array<std::string_view, 9> message_variables = {
  "ID",           "STREAM",      "GROUP",       "ATTEMPT",       "DELAYS",
  "CONTENT_TYPE", "MESSAGE_KEY", "ROUTING_KEY", "SCHEMA_VERSION"};

/// Where our database is, with its password: not for every command to know.
constexpr std::string_view own_variable = "DATABASE_URL";

bool is_withheld(std::string_view variable) {
  if (!variable.starts_with(prefix))
    return false;
  const auto name =
    variable.substr(prefix.size(), variable.find('=') - prefix.size());
  return name == own_variable || name.starts_with("HEADER_")
         || std::find(message_variables.begin(), message_variables.end(), name)
              != message_variables.end();
}

std::vector<std::string> own_environment() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable && *variable; ++variable)
    if (!is_withheld(*variable))
      variables.emplace_back(*variable);
  return variables;
}

std::string header_variable(std::string_view name) {
  std::string result = "HEADER_";
  for (const auto c : name) {
    const auto byte = static_cast<unsigned char>(c);
    result += std::isalnum(byte) && byte < 0x80
                ? static_cast<char>(std::toupper(byte))
                : '_';
  }
  return result;
}

void describe(std::vector<std::string>& variables, const delivery& run) {
  const auto add = [&](std::string_view name, std::string_view value) {
    variables.push_back(
      std::string{prefix}.append(name).append("=").append(value));
  };
  const auto add_unless_empty = [&](std::string_view name,
                                    const std::string& value) {
    if (!value.empty())
      add(name, value);
  };
  const auto& subject = run.message;
  add("ID", std::to_string(subject.id));
  add("STREAM", run.stream);
  add("GROUP", run.group);
  add("ATTEMPT", std::to_string(run.attempt));
  add("DELAYS", std::to_string(run.delays));
  add("SCHEMA_VERSION", std::to_string(subject.schema_version));
  add("CONTENT_TYPE",
      subject.content_type.empty() ? "application/json" : subject.content_type);
  add_unless_empty("MESSAGE_KEY", subject.message_key);
  add_unless_empty("ROUTING_KEY", subject.routing_key);
  std::set<std::string> seen;
  for (const auto& [name, value] : subject.headers)
    if (const auto [at, fresh] = seen.insert(header_variable(name)); fresh)
      add(*at, value);
}

std::string how_it_ended(const command_end& end) {
  std::string text =
    end.stopped ? "stopped (over time, or the consumer is ending): " : "";
  text += end.signal != 0
            ? std::string{"ended by signal "} + strsignal(end.signal)
            : "exit status " + std::to_string(end.status);
  auto errors = std::string_view{end.errors};
  while (!errors.empty() && (errors.back() == '\n' || errors.back() == '\r'))
    errors.remove_suffix(1);
  if (errors.empty())
    return text;
  text += ": ";
  // The end of the output says more than its beginning, so it is what stays.
  const auto room = max_error_text_bytes - text.size() - 64;
  if (errors.size() > room)
    errors.remove_prefix(errors.size() - room);
  return text.append(errors);
}

outcome outcome_of(const std::string& path, const command_end& end) {
  if (end.not_started)
    return retry("cannot start " + path + ": " + *end.not_started);
  if (end.signal == 0 && end.status == 0)
    return done();
  if (end.signal == 0 && end.status == status_dead)
    return dead(how_it_ended(end));
  return retry(how_it_ended(end));
}

std::string search_path() {
  const auto* path = std::getenv("PATH");
  return path ? path : "/usr/local/bin:/usr/bin:/bin";
}

} // namespace

message_handler make_exec_handler(std::vector<std::string> command,
                                  std::chrono::milliseconds kill_after) {
  if (command.empty())
    throw error{code::invalid_option, "the handler's command is empty",
                "Name a program and its arguments"};
  auto path = find_command(command.front(), search_path());
  if (!path)
    throw error{code::command_not_found,
                "there is no executable file " + command.front()};
  auto prepared = std::make_shared<child_command>();
  prepared->path = std::move(*path);
  prepared->argv = std::move(command);
  prepared->environment = own_environment();
  const std::shared_ptr<const child_command> shared = std::move(prepared);
  return [shared, kill_after](delivery& run) {
    auto what = *shared;
    describe(what.environment, run);
    return outcome_of(what.path,
                      run_command(what, run.message.payload, run.stop,
                                  kill_after, max_error_text_bytes));
  };
}

} // namespace sqlstreams
