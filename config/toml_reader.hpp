#pragma once
// Text -> configuration, or everything that is wrong with it at once.

#include "config/configuration.hpp"
#include "config/error.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// One mistake in a configuration file.
struct finding {
  std::string file{};
  int line = 0;             ///< from 1
  int column = 0;           ///< from 1, in characters
  std::string key_path{};   ///< e.g. streams."a.b".retention; may be empty
  std::string problem{};    ///< what is wrong, with the value
  std::string accepted{};   ///< what would be right; may be empty
  std::string suggestion{}; ///< nearest known key or where it belongs
};

/// Returns `file:line:column: key: problem; accepted: ...; did you mean ...?`.
std::string to_string(const finding& value);

/// A configuration file with mistakes; code::invalid_configuration.
class configuration_error : public error {
public:
  /// @pre findings is not empty
  explicit configuration_error(std::vector<finding> findings);

  /// All mistakes, in the order of the file.
  [[nodiscard]] const std::vector<finding>& findings() const noexcept {
    return findings_;
  }

private:
  std::vector<finding> findings_;
};

/// How secrets written as `env:NAME` and `file:PATH` are looked up. An empty
/// function finds nothing.
struct environment {
  std::function<std::optional<std::string>(const std::string&)> variable{};
  std::function<std::optional<std::string>(const std::string&)> file{};
};

/// Reads a configuration. Mistakes of syntax do not hide those that follow.
/// @param file_name for positions in messages only
/// @throws configuration_error with all mistakes
configuration read_configuration(std::string_view text,
                                 std::string_view file_name,
                                 const environment& env);

/// Reads a file and its configuration; blocks on the file system.
/// @throws error code::file_unreadable
/// @throws configuration_error with all mistakes
configuration load_configuration(const std::filesystem::path& path,
                                 const environment& env);

/// Returns a file's text, for `environment::file` and the like.
/// @param path `-` and `/dev/stdin` stand for standard input
/// @throws error code::file_unreadable if it is absent, no regular file, not
///   readable or larger than 16 MiB
std::string read_text_file(const std::filesystem::path& path);

} // namespace sqlstreams
