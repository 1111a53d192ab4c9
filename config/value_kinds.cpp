#include "config/value_kinds.hpp"

#include "config/checked_fields.hpp"
#include "config/database_url.hpp"
#include "config/duration.hpp"
#include "config/names.hpp"
#include "config/nearest_word.hpp"
#include "config/text_checks.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <type_traits>

namespace sqlstreams {

using std::chrono::nanoseconds;
using kind = toml_node::kind;
using result = std::optional<wrong_value>;

namespace {

wrong_value not_this(const toml_node& node) { return {"is " + describe(node)}; }

/// The word that a mistyped text most likely stands for; empty if none.
std::string nearest_of(const toml_node& node,
                       const std::vector<std::string>& words) {
  if (node.type != kind::text)
    return {};
  return nearest_word(node.text, words).value_or("");
}

std::string number_form(std::int64_t low, std::int64_t high) {
  const bool open = high == INT64_MAX;
  return "a whole number "
         + (open
              ? "of at least " + std::to_string(low)
              : "from " + std::to_string(low) + " to " + std::to_string(high));
}

template <class Number>
value_kind<Number> number(std::int64_t low, std::int64_t high) {
  auto read = [low, high](const toml_node& node, Number& to,
                          const environment&) -> result {
    const bool fits =
      node.type == kind::integer && node.integer >= low && node.integer <= high;
    if (!fits)
      return not_this(node);
    to = static_cast<Number>(node.integer);
    return std::nullopt;
  };
  auto print = [low](const Number& value) -> std::optional<std::string> {
    if (value < low)
      return std::nullopt;
    return std::to_string(value);
  };
  return {number_form(low, high), read, print};
}

/// What somebody meant who left the unit out or put a blank in.
std::string guess_duration(const toml_node& node) {
  if (node.type == kind::integer && node.integer >= 0)
    return std::to_string(node.integer) + "s";
  if (node.type != kind::text)
    return {};
  auto text = node.text;
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const bool digits =
    !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  if (digits)
    text += "s";
  return text != node.text && parse_duration(text) ? text : std::string{};
}

result read_duration(const toml_node& node, nanoseconds& to,
                     const environment&) {
  const auto value =
    node.type == kind::text ? parse_duration(node.text) : std::nullopt;
  if (!value)
    return wrong_value{"is " + describe(node), guess_duration(node)};
  to = *value;
  return std::nullopt;
}

result read_signed_duration(const toml_node& node, nanoseconds& to,
                            const environment& env) {
  auto magnitude = node;
  const bool negative = node.type == kind::text && node.text.starts_with('-');
  if (negative)
    magnitude.text.erase(0, 1);
  auto wrong = read_duration(magnitude, to, env);
  if (wrong)
    return wrong_value{"is " + describe(node), wrong->suggestion};
  if (negative)
    to = -to;
  return std::nullopt;
}

/// What a duration may look like, and how long it may be; that it is no longer
/// is for the section's validate() to check.
std::string accepted_durations() {
  return std::string(duration_form) + ", " + duration_cap();
}

std::string print_duration(nanoseconds value) {
  return quote_text(format_duration(value));
}

std::optional<std::string> print_set_duration(const nanoseconds& value) {
  if (value.count() == 0)
    return std::nullopt;
  return print_duration(value);
}

/// One of a few words.
template <class Value, class Enum>
value_kind<Value> choice(std::vector<Enum> values) {
  std::vector<std::string> words;
  std::string accepted;
  for (auto value : values) {
    words.emplace_back(to_string(value));
    accepted.append(accepted.empty() ? "" : ", ")
      .append(quote_text(to_string(value)));
  }
  auto read = [values, words](const toml_node& node, Value& to,
                              const environment&) -> result {
    for (auto value : values)
      if (node.type == kind::text && node.text == to_string(value)) {
        to = value;
        return std::nullopt;
      }
    return wrong_value{"is " + describe(node), nearest_of(node, words)};
  };
  auto print = [](const Value& value) -> std::optional<std::string> {
    if constexpr (std::is_same_v<Value, std::optional<Enum>>) {
      if (!value)
        return std::nullopt;
      return quote_text(to_string(*value));
    } else {
      return quote_text(to_string(value));
    }
  };
  return {accepted, read, print};
}

std::string print_instant(std::chrono::system_clock::time_point value) {
  const auto whole = std::chrono::floor<std::chrono::seconds>(value);
  const auto micro =
    std::chrono::duration_cast<std::chrono::microseconds>(value - whole);
  const std::time_t seconds = std::chrono::system_clock::to_time_t(whole);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char date[40];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  char fraction[16] = "";
  if (micro.count() != 0)
    std::snprintf(fraction, sizeof fraction, ".%06d",
                  static_cast<int>(micro.count()));
  return std::string(date) + fraction + "Z";
}

std::optional<std::string> print_start(const cursor_position& value) {
  switch (value.where) {
  case cursor_position::kind::beginning: return "\"beginning\"";
  case cursor_position::kind::head: return "\"head\"";
  case cursor_position::kind::at_message:
    return "{ at_message = " + std::to_string(value.message_id) + " }";
  case cursor_position::kind::at_time:
    return "{ at_time = " + print_instant(value.instant) + " }";
  }
  return std::nullopt;
}

result read_start(const toml_node& node, cursor_position& to,
                  const environment&) {
  const auto* id = node.find("at_message");
  const auto* time = node.find("at_time");
  const bool one_key = node.entries.size() == 1;
  if (node.type == kind::text && node.text == "beginning")
    to = beginning();
  else if (node.type == kind::text && node.text == "head")
    to = head();
  else if (one_key && id && id->value.type == kind::integer
           && id->value.integer > 0)
    to = at_message(id->value.integer);
  else if (one_key && time && time->value.type == kind::instant)
    to = at_time(time->value.instant);
  else
    return wrong_value{"is " + describe(node),
                       nearest_of(node, {"beginning", "head"})};
  return std::nullopt;
}

result read_patterns(const toml_node& node, std::vector<std::string>& to,
                     const environment&) {
  if (node.type != kind::array)
    return not_this(node);
  to.clear();
  for (const auto& element : node.elements) {
    if (element.type != kind::text || element.text.empty())
      return wrong_value{"has " + describe(element) + " among its elements"};
    to.push_back(element.text);
  }
  return std::nullopt;
}

std::string print_texts(const std::vector<std::string>& texts) {
  std::string text;
  for (const auto& one : texts)
    text.append(text.empty() ? "" : ", ").append(quote_text(one));
  return "[" + text + "]";
}

std::string without_line_end(std::string text) {
  while (text.ends_with('\n') || text.ends_with('\r'))
    text.pop_back();
  return text;
}

/// Replaces `env:NAME` and `file:PATH` by what they refer to.
result follow_reference(std::string& text, const environment& env) {
  std::optional<std::string> value;
  if (text.starts_with("env:")) {
    const auto name = text.substr(4);
    value = env.variable ? env.variable(name) : std::nullopt;
    if (!value)
      return wrong_value{"refers to the environment variable "
                         + quote_text(name) + ", which is not set"};
  } else if (text.starts_with("file:")) {
    const auto path = text.substr(5);
    value = env.file ? env.file(path) : std::nullopt;
    if (!value)
      return wrong_value{"refers to the file " + quote_text(path)
                         + ", which cannot be read"};
  }
  if (value)
    text = without_line_end(*value);
  return std::nullopt;
}

result read_address(const toml_node& node, std::string& to,
                    const environment& env) {
  if (node.type != kind::text)
    return not_this(node);
  auto text = node.text;
  if (auto wrong = follow_reference(text, env))
    return wrong;
  if (auto wrong = find_url_problem(text))
    return wrong_value{*wrong};
  to = text;
  return std::nullopt;
}

result read_node_name(const toml_node& node, std::string& to,
                      const environment&) {
  const bool printable =
    node.type == kind::text && !node.text.empty()
    && node.text.size() <= max_name_bytes
    && std::none_of(node.text.begin(), node.text.end(), [](char c) {
         return static_cast<unsigned char>(c) < 0x20;
       });
  if (!printable)
    return not_this(node);
  to = node.text;
  return std::nullopt;
}

result read_schema_name(const toml_node& node, std::string& to,
                        const environment&) {
  if (node.type != kind::text)
    return not_this(node);
  if (const auto wrong = check_schema_name(node.text))
    return wrong_value{wrong->detail()};
  to = node.text;
  return std::nullopt;
}

std::optional<std::string> print_text(const std::string& value) {
  if (value.empty())
    return std::nullopt;
  return quote_text(value);
}

result read_command(const toml_node& node,
                    std::optional<handler_declaration>& to) {
  exec_handler exec;
  for (const auto& word : node.elements) {
    const bool usable =
      word.type == kind::text && word.text.find('\0') == std::string::npos;
    if (!usable)
      return wrong_value{"exec has " + describe(word) + " among its words"};
    exec.command.push_back(word.text);
  }
  if (node.type != kind::array)
    return wrong_value{"exec is " + describe(node)};
  if (exec.command.empty() || exec.command.front().empty())
    return wrong_value{"exec names no command"};
  to = std::move(exec);
  return std::nullopt;
}

result read_log(const toml_node& node, std::optional<handler_declaration>& to) {
  if (node.type != kind::boolean || !node.boolean)
    return wrong_value{"log is " + describe(node)};
  to = log_handler{};
  return std::nullopt;
}

result read_handler(const toml_node& node,
                    std::optional<handler_declaration>& to,
                    const environment&) {
  if (node.type != kind::table)
    return not_this(node);
  if (node.entries.size() != 1)
    return wrong_value{"has " + std::to_string(node.entries.size())
                       + " keys, where one is wanted"};
  const auto& [key, key_at, value] = node.entries.front();
  if (key == "exec")
    return read_command(value, to);
  if (key == "log")
    return read_log(value, to);
  if (key == "http" || key == "actor")
    return wrong_value{key + " is not supported by this build"};
  return wrong_value{"has the unknown kind " + quote_text(key),
                     nearest_word(key, {"exec", "log"}).value_or("")};
}

std::optional<std::string>
print_handler(const std::optional<handler_declaration>& value) {
  if (!value)
    return std::nullopt;
  if (const auto* exec = std::get_if<exec_handler>(&*value))
    return "{ exec = " + print_texts(exec->command) + " }";
  if (const auto* http = std::get_if<http_handler>(&*value))
    return "{ http = " + quote_text(http->url) + " }";
  if (const auto* actor = std::get_if<actor_handler>(&*value))
    return "{ actor = " + quote_text(actor->url) + " }";
  return "{ log = true }";
}

} // namespace

value_kind<int> count(std::int64_t low, std::int64_t high) {
  return number<int>(low, high);
}

value_kind<std::int64_t> amount(std::int64_t low, std::int64_t high) {
  return number<std::int64_t>(low, high);
}

value_kind<nanoseconds> span() {
  return {accepted_durations(), read_duration, print_set_duration};
}

value_kind<nanoseconds> span_or_zero(std::string_view zero_means) {
  return {accepted_durations() + "; \"0\": " + std::string(zero_means),
          read_duration,
          [](const nanoseconds& value) -> std::optional<std::string> {
            return print_duration(value);
          }};
}

value_kind<nanoseconds> span_or_negative(std::string_view negative_means) {
  return {accepted_durations() + "; negative: " + std::string(negative_means),
          read_signed_duration, print_set_duration};
}

value_kind<bool> flag() {
  return {"true or false",
          [](const toml_node& node, bool& to, const environment&) -> result {
            if (node.type != kind::boolean)
              return not_this(node);
            to = node.boolean;
            return std::nullopt;
          },
          [](const bool& value) -> std::optional<std::string> {
            return value ? "true" : "false";
          }};
}

value_kind<std::vector<std::string>> patterns() {
  return {
    "an array of routing key patterns such as [\"eu.*\"]", read_patterns,
    [](const std::vector<std::string>& value) -> std::optional<std::string> {
      if (value.empty())
        return std::nullopt;
      return print_texts(value);
    }};
}

value_kind<std::optional<concurrency>> policy() {
  return choice<std::optional<concurrency>, concurrency>(
    {concurrency::parallel, concurrency::exclusive, concurrency::ordered});
}

value_kind<delivery_log_mode> history_mode() {
  return choice<delivery_log_mode, delivery_log_mode>(
    {delivery_log_mode::failures, delivery_log_mode::all,
     delivery_log_mode::off});
}

value_kind<session_end_action> session_end() {
  return choice<session_end_action, session_end_action>(
    {session_end_action::restart, session_end_action::stop});
}

value_kind<cursor_position> start_position() {
  return {"\"beginning\", \"head\", { at_message = ID } or { at_time = "
          "2025-01-31T12:00:00Z }",
          read_start, print_start};
}

value_kind<std::string> node_name() {
  return {"a text of 1 to 200 bytes without control characters", read_node_name,
          print_text};
}

value_kind<std::string> schema_name() {
  return {"1 to 48 bytes of a-z, 0-9 and '_', not starting with a digit",
          read_schema_name, print_text};
}

value_kind<std::string> address() {
  return {"postgres://user@host:port/database, key=value pairs, env:NAME or "
          "file:PATH",
          read_address, [](const std::string& value) {
            return print_text(mask_url(value));
          }};
}

value_kind<std::optional<handler_declaration>> handler() {
  return {"one of { exec = [\"COMMAND\", \"ARGUMENT\"] } or { log = true }",
          read_handler, print_handler};
}

std::vector<known_key> handler_keys() {
  return {{"exec"}, {"log"}, {"http"}, {"actor"}};
}

} // namespace sqlstreams
