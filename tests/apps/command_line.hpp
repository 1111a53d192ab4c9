#pragma once
// The program as its users meet it.

#include "tests/support/child_process.hpp"
#include "tests/support/test_database.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams::test {

/// Runs `sqlstreams` on the tests' server, in a schema and with a folder of its
/// own.
class command_line {
public:
  command_line();
  ~command_line();
  command_line(const command_line&) = delete;
  command_line& operator=(const command_line&) = delete;

  /// The command for a line of words; standard input is `input`.
  [[nodiscard]] command line(std::vector<std::string> words,
                             std::string input = {}) const;

  /// Runs it to its end.
  command_result run(std::vector<std::string> words,
                     std::string input = {}) const;

  /// Runs it and fails the test unless it succeeds.
  /// @returns its output
  std::string expect(std::vector<std::string> words,
                     std::string input = {}) const;

  /// Writes a file into the folder.
  /// @returns its path
  std::string file(const std::string& name, std::string_view text) const;

  /// Registers a stream, with a group for each name, given as TOML lines.
  void declare(std::string_view toml) const;

  /// Where a group stands.
  [[nodiscard]] nlohmann::json lag(const std::string& stream,
                                   const std::string& group) const;

  /// Asks until a group has so many messages before it; fails the test if that
  /// does not come about.
  void wait_for_backlog(const std::string& stream, const std::string& group,
                        int backlog) const;

  [[nodiscard]] const std::string& schema() const { return schema_.name(); }
  [[nodiscard]] const std::string& folder() const { return folder_; }

private:
  fresh_schema schema_;
  std::string folder_;
};

/// One JSON value a line.
std::vector<nlohmann::json> json_lines(const std::string& text);

} // namespace sqlstreams::test
