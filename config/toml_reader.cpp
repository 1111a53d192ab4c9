#include "config/toml_reader.hpp"

#include "config/configuration_reader.hpp"
#include "config/text_checks.hpp"
#include "config/toml_tree.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <tuple>
#include <utility>

namespace sqlstreams {

namespace {

// Parsed values ---------------------------------------------------------------

text_position position_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line),
          static_cast<int>(region.begin.column)};
}

std::chrono::system_clock::time_point to_instant(const toml::date_time& value) {
  using namespace std::chrono;
  const auto& [year_number, month_number, day_number] = value.date;
  const sys_days date =
    year{year_number} / month{month_number} / day{day_number};
  const auto& time = value.time;
  const auto local = date + hours{time.hour} + minutes{time.minute}
                     + seconds{time.second} + nanoseconds{time.nanosecond};
  return time_point_cast<system_clock::duration>(
    local - minutes{value.offset->minutes});
}

toml_node convert(const toml::node& from);

void convert_table(const toml::table& from, toml_node& to) {
  for (const auto& [key, value] : from)
    to.entries.push_back(
      {std::string(key.str()), position_of(key.source()), convert(value)});
}

void convert_array(const toml::array& from, toml_node& to) {
  to.type = toml_node::kind::array;
  for (const auto& element : from)
    to.elements.push_back(convert(element));
}

void convert_date_time(const toml::date_time& from, toml_node& to) {
  const bool has_offset = from.offset.has_value();
  to.type = has_offset ? toml_node::kind::instant : toml_node::kind::other;
  if (has_offset)
    to.instant = to_instant(from);
}

toml_node convert(const toml::node& from) {
  toml_node to;
  to.at = position_of(from.source());
  if (const auto* table = from.as_table()) {
    convert_table(*table, to);
  } else if (const auto* array = from.as_array()) {
    convert_array(*array, to);
  } else if (const auto* text = from.as_string()) {
    to.type = toml_node::kind::text;
    to.text = text->get();
  } else if (const auto* integer = from.as_integer()) {
    to.type = toml_node::kind::integer;
    to.integer = integer->get();
  } else if (const auto* real = from.as_floating_point()) {
    to.type = toml_node::kind::real;
    to.real = real->get();
  } else if (const auto* boolean = from.as_boolean()) {
    to.type = toml_node::kind::boolean;
    to.boolean = boolean->get();
  } else if (const auto* date_time = from.as_date_time()) {
    convert_date_time(date_time->get(), to);
  } else {
    to.type = toml_node::kind::other;
  }
  return to;
}

// Mistakes of encoding
// ---------------------------------------------------------

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (char c : text) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines)
    text.append(&line == &lines.front() ? "" : "\n").append(line);
  return text;
}

/// Columns count characters, as editors do.
int column_of(std::string_view line, std::size_t byte) {
  const auto before = line.substr(0, byte);
  const auto followers = std::count_if(
    before.begin(), before.end(), [](char c) { return (c & 0xC0) == 0x80; });
  return static_cast<int>(before.size()) - static_cast<int>(followers) + 1;
}

/// Reports bytes that are not UTF-8, once a line, and puts question marks in
/// their place so that the rest can still be read.
void clean_line(std::string& line, int number, findings_log& log) {
  bool reported = false;
  while (const auto at = find_invalid_utf8(line)) {
    if (!reported) {
      char text[64];
      std::snprintf(text, sizeof text, "has byte 0x%02X, which is not UTF-8",
                    static_cast<unsigned char>(line[*at]));
      log.add({number, column_of(line, *at)}, {}, text,
              "text in UTF-8; convert the file");
      reported = true;
    }
    line[*at] = '?';
  }
}

bool is_utf16(std::string_view text) {
  return text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF");
}

// Mistakes of syntax
// -----------------------------------------------------------

struct syntax_error {
  text_position at;
  std::string problem;
};

struct parse_attempt {
  toml::table table;
  std::optional<syntax_error> failure;
};

/// toml++ goes down a level of its stack with each part of a dotted key.
std::optional<syntax_error>
find_deep_key(const std::vector<std::string>& lines) {
  constexpr auto most_parts = 1000;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto key = std::string_view{lines[i]}.substr(0, lines[i].find('='));
    if (std::count(key.begin(), key.end(), '.') >= most_parts)
      return syntax_error{{static_cast<int>(i) + 1, 1},
                          "a key has more than 1000 parts"};
  }
  return std::nullopt;
}

parse_attempt parse_lines(const std::vector<std::string>& lines) {
  if (auto deep = find_deep_key(lines))
    return {{}, std::move(deep)};
  try {
    return {toml::parse(join_lines(lines)), std::nullopt};
  } catch (const toml::parse_error& e) {
    return {
      {}, syntax_error{position_of(e.source()), std::string(e.description())}};
  }
}

/// Returns how far parsing came.
int reach(const parse_attempt& attempt) {
  return attempt.failure ? attempt.failure->at.line : 1 << 30;
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_header(std::string_view line) { return trimmed(line).starts_with('['); }

constexpr std::string_view unread = "__unread_";

/// Takes a line out so that the others keep their numbers. The keys below a
/// header must not fall to the table before it: they get one of their own,
/// which is not read.
void take_out(std::vector<std::string>& lines, std::size_t index) {
  lines[index] = is_header(lines[index])
                   ? "[" + std::string(unread) + std::to_string(index) + "]"
                   : std::string{};
}

/// Returns the path of the key on a line, as far as the text tells.
std::string key_near(const std::vector<std::string>& lines, std::size_t index) {
  auto header = index;
  while (header > 0 && !is_header(lines[header]))
    --header;
  auto path = std::string(trimmed(lines[header]));
  path = is_header(path) ? path.substr(0, path.find_last_not_of("] ") + 1)
                         : std::string{};
  path.erase(0, path.find_first_not_of("[ "));
  const std::string_view line = lines[index];
  const auto equals = line.find('=');
  if (is_header(line) || equals == std::string_view::npos)
    return path;
  return (path.empty() ? "" : path + ".")
         + std::string(trimmed(line.substr(0, equals)));
}

/// Returns the line on which the statement begins that reaches into the line
/// after it, as an unclosed bracket makes it do.
std::size_t statement_start(const std::vector<std::string>& lines,
                            std::size_t index) {
  while (index > 0 && !is_header(lines[index])
         && lines[index].find('=') == std::string::npos)
    --index;
  return index;
}

struct recovery_step {
  parse_attempt attempt;
  std::size_t blamed; ///< index of the line whose key has the mistake
};

/// Goes on after a mistake: without its line or, if that gets further, without
/// the statement before it.
recovery_step recover(std::vector<std::string>& lines, std::size_t index) {
  auto without_line = lines;
  take_out(without_line, index);
  auto attempt = parse_lines(without_line);
  if (index > 0 && attempt.failure) {
    auto without_statement = lines;
    const auto start = statement_start(lines, index - 1);
    for (auto i = start; i < index; ++i)
      take_out(without_statement, i);
    auto other = parse_lines(without_statement);
    if (reach(other) > reach(attempt)) {
      lines = std::move(without_statement);
      return {std::move(other), start};
    }
  }
  lines = std::move(without_line);
  return {std::move(attempt), index};
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Says in the words of a configuration's author what the parser found.
std::string reword(std::string_view found) {
  if (contains(found, "cannot redefine"))
    return contains(found, "table header") ? "is declared a second time"
                                           : "is given a second time";
  if (contains(found, "parsing string") && contains(found, "control character"))
    return "has a text without its closing quote or with a control character";
  if (contains(found, "end-of-file"))
    return "the file ends inside a text, array or table that was not closed";
  const auto colon = found.find(": ");
  if (colon == std::string_view::npos)
    return "cannot be read: " + std::string(found);
  return "cannot be read: " + std::string(found.substr(colon + 2));
}

std::string accepted_syntax(std::string_view problem) {
  if (contains(problem, "representable"))
    return "a number of 64 bits at most";
  if (contains(problem, "second time"))
    return "each table and key once";
  return "valid TOML 1.0";
}

/// Parses; on a mistake reports it and reads what can be read of the rest.
toml::table parse_leniently(std::vector<std::string> lines, findings_log& log) {
  constexpr int most = 100;
  const auto original = lines;
  auto attempt = parse_lines(lines);
  int last_line = 0;
  for (int i = 0; attempt.failure && i < most; ++i) {
    const auto [at, description] = *attempt.failure;
    const int line = std::clamp(at.line, 1, static_cast<int>(lines.size()));
    if (line <= last_line)
      break; // the same construct again: going on would guess
    last_line = line;
    auto step = recover(lines, static_cast<std::size_t>(line - 1));
    const auto problem = reword(description);
    // Where the file ends says nothing about what was left open.
    const auto key = contains(description, "end-of-file")
                       ? std::string{}
                       : key_near(original, step.blamed);
    log.add({line, std::max(at.column, 1)}, key, problem,
            accepted_syntax(problem));
    attempt = std::move(step.attempt);
  }
  return std::move(attempt.table);
}

toml_node parse_text(std::string_view text, findings_log& log) {
  if (is_utf16(text)) {
    log.add({1, 1}, {}, "is UTF-16", "text in UTF-8; convert the file");
    return {};
  }
  if (text.starts_with("\xEF\xBB\xBF"))
    text.remove_prefix(3); // a byte order mark, as some editors write it
  auto lines = split_lines(text);
  int number = 0;
  for (auto& line : lines)
    clean_line(line, ++number, log);
  auto root = convert(parse_leniently(std::move(lines), log));
  std::erase_if(root.entries, [](const toml_entry& entry) {
    return entry.key.starts_with(unread);
  });
  return root;
}

std::string list_findings(const std::vector<finding>& findings) {
  const auto count = findings.size();
  std::string text =
    std::to_string(count) + (count == 1 ? " mistake" : " mistakes");
  for (const auto& one : findings)
    text.append("\n  ").append(to_string(one));
  return text + "\n";
}

} // namespace

std::string to_string(const finding& value) {
  std::string text = value.file;
  if (value.line > 0)
    text +=
      ":" + std::to_string(value.line) + ":" + std::to_string(value.column);
  text += ": ";
  if (!value.key_path.empty())
    text += value.key_path + ": ";
  text += value.problem;
  if (!value.accepted.empty())
    text += "; accepted: " + value.accepted;
  const bool quoted = value.suggestion.find('"') != std::string::npos;
  const std::string quote = quoted ? "" : "\"";
  if (!value.suggestion.empty())
    text += "; did you mean " + quote + value.suggestion + quote + "?";
  return text;
}

configuration_error::configuration_error(std::vector<finding> findings)
  : error{code::invalid_configuration, list_findings(findings)},
    findings_{std::move(findings)} {}

configuration read_configuration(std::string_view text,
                                 std::string_view file_name,
                                 const environment& env) {
  findings_log log{std::string(file_name), env};
  auto result = read_tree(parse_text(text, log), log);
  auto& found = log.all();
  if (found.empty())
    return result;
  std::stable_sort(
    found.begin(), found.end(), [](const finding& a, const finding& b) {
      return std::tie(a.line, a.column) < std::tie(b.line, b.column);
    });
  throw configuration_error{std::move(found)};
}

configuration load_configuration(const std::filesystem::path& path,
                                 const environment& env) {
  return read_configuration(read_text_file(path), path.string(), env);
}

std::string read_text_file(const std::filesystem::path& path) {
  constexpr std::size_t limit = 16u << 20;
  const auto refuse = [&](const std::string& why) -> error {
    return error{code::file_unreadable, path.string() + ": " + why};
  };
  constexpr auto standard_input = "/dev/stdin";
  const bool is_input = path == "-" || path == standard_input;
  std::error_code failure;
  const auto status = std::filesystem::status(path, failure);
  if (!is_input && !std::filesystem::exists(status))
    throw refuse("does not exist");
  if (!is_input && std::filesystem::is_directory(status))
    throw refuse("is a directory");
  // Opening a pipe waits for somebody who writes to it, perhaps for ever.
  if (!is_input && !std::filesystem::is_regular_file(status))
    throw refuse("is not a regular file");
  std::ifstream file{is_input ? standard_input : path, std::ios::binary};
  if (!file)
    throw refuse("cannot be opened");
  std::string text;
  char block[65536];
  while (file.read(block, sizeof block) || file.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(file.gcount()));
    if (text.size() > limit)
      throw refuse("is larger than 16 MiB");
  }
  if (file.bad())
    throw refuse("cannot be read");
  return text;
}

} // namespace sqlstreams
