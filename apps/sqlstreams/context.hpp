#pragma once

#include "actors/log.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <optional>
#include <string>

namespace sqlstreams {

/// How a command prints its result.
enum class output_format { text, json };

/// What the command line says for every command, and which command it named.
struct context {
  std::string database_url;          ///< from `--database-url`; empty: none
  std::string schema = "sqlstreams"; ///< PostgreSQL schema of the tables
  bool schema_given = false;         ///< by `--schema`
  std::string config_file;           ///< TOML file; empty: none
  output_format output = output_format::text;
  bool yes = false;             ///< answers questions with yes
  bool no_color = false;        ///< no colours, even on a terminal
  std::optional<log_level> log; ///< from `--log-level`

  /// The command that was named, set by its CLI11 callback and run by `main`
  /// after the whole line was understood: so a usage error (exit status 2) is
  /// never mistaken for a failed command (1).
  /// @returns the exit status
  /// @throws sqlstreams::error, printed by `main`
  std::function<int()> action;

  [[nodiscard]] bool json() const { return output == output_format::json; }

  /// The log of this command.
  /// @param usual level, if the command line names none
  [[nodiscard]] log_options logging(log_level usual) const {
    return {log.value_or(usual), json() ? log_format::json : log_format::text};
  }
};

} // namespace sqlstreams
