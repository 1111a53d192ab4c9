#include "tests/apps/command_line.hpp"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sqlstreams::test {

command_line::command_line() {
  auto path =
    (std::filesystem::temp_directory_path() / "sqlstreams-XXXXXX").string();
  if (!mkdtemp(path.data()))
    throw std::runtime_error("no folder for the test");
  folder_ = path;
}

command_line::~command_line() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

command command_line::line(std::vector<std::string> words,
                           std::string input) const {
  command what;
  what.argv = {SQLSTREAMS_BIN, "--schema", schema()};
  what.argv.insert(what.argv.end(), words.begin(), words.end());
  what.input = std::move(input);
  what.environment["SQLSTREAMS_DATABASE_URL"] = database_url();
  return what;
}

command_result command_line::run(std::vector<std::string> words,
                                 std::string input) const {
  return run_command(line(std::move(words), std::move(input)));
}

std::string command_line::expect(std::vector<std::string> words,
                                 std::string input) const {
  const auto result = run(std::move(words), std::move(input));
  INFO(result.err);
  REQUIRE(result.status == 0);
  return result.out;
}

std::string command_line::file(const std::string& name,
                               std::string_view text) const {
  auto path = folder_ + "/" + name;
  std::ofstream{path, std::ios::binary} << text;
  return path;
}

void command_line::declare(std::string_view toml) const {
  expect({"apply", file("declared.toml", toml)});
}

nlohmann::json command_line::lag(const std::string& stream,
                                 const std::string& group) const {
  return nlohmann::json::parse(
    expect({"consumer", "lag", stream, group, "--output", "json"}));
}

void command_line::wait_for_backlog(const std::string& stream,
                                    const std::string& group,
                                    int backlog) const {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + child_process::patience;
  while (clock::now() < until)
    if (lag(stream, group)["backlog"] == backlog)
      return;
  FAIL("the backlog of " << stream << '/' << group << " is "
                         << lag(stream, group).dump());
}

std::vector<nlohmann::json> json_lines(const std::string& text) {
  std::vector<nlohmann::json> values;
  std::istringstream lines{text};
  for (std::string line; std::getline(lines, line);)
    values.push_back(nlohmann::json::parse(line));
  return values;
}

} // namespace sqlstreams::test
