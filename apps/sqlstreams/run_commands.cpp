#include "apps/sqlstreams/run_commands.hpp"

#include "apps/sqlstreams/declarations.hpp"
#include "apps/sqlstreams/declared_handler.hpp"
#include "apps/sqlstreams/group_runner.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "config/error.hpp"

#include <filesystem>
#include <memory>
#include <vector>

namespace sqlstreams {

namespace {

/// The groups that have a handler, each with the handler made: whatever cannot
/// run is refused before anything is registered.
std::vector<group_runner::arguments> groups_to_run(const configuration& file,
                                                   const std::string& path) {
  const auto folder = std::filesystem::absolute(path).parent_path();
  std::vector<group_runner::arguments> groups;
  for (const auto& stream : file.streams)
    for (const auto& group : stream.groups) {
      if (!group.handler)
        continue;
      consume_run run;
      run.options = group.consume;
      run.schema_version = group.schema_version;
      if (!file.node.name.empty())
        run.instance = file.node.name + '/' + stream.name + '/' + group.name;
      groups.push_back({stream.name, group.name,
                        make_declared_handler(*group.handler, folder), run,
                        session_restarts{file.node.on_session_end}});
    }
  if (groups.empty())
    throw error(code::invalid_configuration,
                "no group in '" + path
                  + "' has a handler, so there is nothing "
                    "to run",
                "give a group a handler = { ... }, or only register with "
                "`sqlstreams apply`");
  return groups;
}

int run_file(const std::string& path, const context& ctx) {
  configure_log(ctx.logging(log_level::info));
  const auto signalled = stop_on_signals();
  const auto file = load_file(path);
  auto groups = groups_to_run(file, path);
  const auto db = connect_unless(signalled, ctx, file, missing_tables::make);
  if (!db)
    return 0;
  const auto applied = unless(signalled, *db, [&] {
    apply_declarations(*db, file, [](const declared_item&) {
      // The registrar logs it.
    });
    return true;
  });
  if (!applied)
    return 0;

  std::stop_source stop;
  const std::stop_callback on_signal{signalled, [&] {
                                       stop.request_stop();
                                     }};
  std::vector<std::unique_ptr<group_runner>> runners;
  for (auto& group : groups)
    runners.push_back(std::make_unique<group_runner>(
      *db, std::move(group), stop.get_token(), [&] { stop.request_stop(); }));
  std::optional<error> failure;
  for (const auto& runner : runners) {
    auto ended = runner->wait();
    failure = failure ? failure : ended;
  }
  if (failure)
    throw *failure;
  return 0;
}

} // namespace

void add_run_commands(CLI::App& app, context& ctx) {
  auto* command = app.add_subcommand(
    "run", "Consume all groups of a file that have a handler");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "configuration in TOML")->required();
  command->callback([&ctx, path] {
    stop_on_signals(); // from now on a signal ends it in order
    ctx.action = [&ctx, path] {
      return run_file(*path, ctx);
    };
  });
}

} // namespace sqlstreams
