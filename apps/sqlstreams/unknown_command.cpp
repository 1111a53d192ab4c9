#include "apps/sqlstreams/unknown_command.hpp"

#include "config/nearest_word.hpp"
#include "config/text_checks.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// The commands that may follow. Groups of options are nameless ones.
std::vector<const CLI::App*> commands_of(const CLI::App& parent) {
  return parent.get_subcommands(
    [](const CLI::App* one) { return !one->get_name().empty(); });
}

std::vector<std::string>
names_of(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string> names;
  for (const auto* command : commands)
    names.push_back(command->get_name());
  return names;
}

/// Whether the word after an option is its value. Only global options are met
/// here: commands that have commands have no options of their own.
bool takes_value(const CLI::App& app, const std::string& word) {
  if (word.find('=') != std::string::npos)
    return false;
  const auto* option = app.get_option_no_throw(word);
  return option && option->get_expected_min() > 0;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text.append(text.empty() ? "" : ", ").append(name);
  return text;
}

} // namespace

std::optional<std::string>
describe_unknown_command(const CLI::App& app,
                         const std::vector<std::string>& words) {
  const CLI::App* here = &app;
  std::string path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const auto& word = words[i];
    if (word.starts_with('-')) {
      i += takes_value(app, word) ? 1 : 0;
      continue;
    }
    const auto commands = commands_of(*here);
    if (commands.empty())
      return std::nullopt; // the rest is the command's own
    const auto names = names_of(commands);
    const auto at = std::find(names.begin(), names.end(), word);
    if (at == names.end()) {
      const auto near = nearest_word(word, names);
      return "there is no command '" + path + storable_error_text(word) + "'; "
             + (near ? "the nearest is '" + path + *near + "'"
                     : "there are " + listed(names));
    }
    path += word + ' ';
    here = commands[static_cast<std::size_t>(at - names.begin())];
  }
  return std::nullopt;
}

} // namespace sqlstreams
