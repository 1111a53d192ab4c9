#include "apps/sqlstreams/option_types.hpp"

#include "apps/sqlstreams/text_table.hpp"
#include "config/duration.hpp"

namespace sqlstreams {

CLI::Option* add_duration(CLI::App& command, const std::string& name,
                          std::chrono::nanoseconds& target,
                          const std::string& help) {
  return command
    .add_option_function<std::string>(
      name,
      [name, &target](const std::string& text) {
        const auto value = parse_duration(text);
        if (!value)
          throw CLI::ValidationError(name, "'" + printable(text) + "' is not "
                                             + std::string(duration_form));
        target = *value;
      },
      help)
    ->type_name("DURATION");
}

CLI::Option* add_pairs(CLI::App& command, const std::string& name,
                       std::map<std::string, std::string>& target,
                       const std::string& help) {
  return command
    .add_option_function<std::vector<std::string>>(
      name,
      [name, &target](const std::vector<std::string>& texts) {
        target.clear();
        for (const auto& text : texts) {
          const auto equals = text.find('=');
          if (equals == std::string::npos || equals == 0)
            throw CLI::ValidationError(name, "'" + printable(text)
                                               + "' is not name=value");
          if (!target.emplace(text.substr(0, equals), text.substr(equals + 1))
                 .second)
            throw CLI::ValidationError(name,
                                       "'" + printable(text.substr(0, equals))
                                         + "' is given twice");
        }
      },
      help)
    ->type_name("NAME=VALUE")
    // One value each, so that what follows is not taken for another.
    ->expected(1)
    ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

} // namespace sqlstreams
