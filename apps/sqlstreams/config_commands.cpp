#include "apps/sqlstreams/config_commands.hpp"

#include "actors/json_line.hpp"
#include "apps/sqlstreams/configuration_json.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/standard_output.hpp"

#include <memory>

namespace sqlstreams {

namespace {

std::size_t count_groups(const configuration& file) {
  std::size_t groups = 0;
  for (const auto& stream : file.streams)
    groups += stream.groups.size();
  return groups;
}

std::string counted(std::size_t count, const std::string& what) {
  return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

int check(const std::string& path, const context& ctx) {
  const auto file = load_file(path);
  const auto streams = file.streams.size();
  const auto groups = count_groups(file);
  const auto text = ctx.json() ? json_line{}
                                   .add("file", path)
                                   .add("valid", true)
                                   .add("streams", streams)
                                   .add("groups", groups)
                                   .str()
                               : path + ": valid, " + counted(streams, "stream")
                                   + ", " + counted(groups, "consumer group");
  return write_out(text + '\n') ? 0 : 1;
}

int print(const std::string& path, const context& ctx) {
  const auto file = load_file(path);
  return write_out(ctx.json() ? configuration_json(file)
                              : print_configuration(file))
           ? 0
           : 1;
}

using verb = int (*)(const std::string&, const context&);

void add_verb(CLI::App& parent, context& ctx, const char* name,
              const char* help, verb run) {
  auto* command = parent.add_subcommand(name, help);
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "configuration in TOML")->required();
  command->callback([&ctx, run, path] {
    ctx.action = [&ctx, run, path] {
      return run(*path, ctx);
    };
  });
}

} // namespace

void add_config_commands(CLI::App& app, context& ctx) {
  auto* parent = app.add_subcommand("config", "Look at configuration files");
  parent->require_subcommand(1);
  add_verb(*parent, ctx, "check", "Report all mistakes of a file", check);
  add_verb(*parent, ctx, "print", "A file's effective values, secrets masked",
           print);
}

} // namespace sqlstreams
