#include "apps/sqlstreams/dev_commands.hpp"

#include "apps/dev_server/private_server.hpp"
#include "config/error.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <unistd.h>

namespace sqlstreams {
namespace {

/// What the options of one `dev` verb say.
struct dev_options {
  private_server_options server;
  bool immediate = false;
  std::vector<std::string> psql_arguments;
};

nlohmann::json to_json(const private_server_status& status) {
  nlohmann::json json{{"running", status.running},
                      {"data", status.folder.string()}};
  if (status.running) {
    json["pid"] = *status.pid;
    json["port"] = status.port;
    json["url"] = status.url;
    json["log"] = status.log.string();
  }
  return json;
}

/// @param state what a running server is said to be
void print_status(const private_server_status& status, const char* state) {
  if (!status.running) {
    std::cout << "not running\n  data " << status.folder.string() << '\n';
    return;
  }
  std::cout << state << "\n  url  " << status.url << "\n  pid  " << *status.pid
            << "\n  data " << status.folder.string() << "\n  log  "
            << status.log.string() << '\n';
}

int start(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const bool started = server.start();
  const auto status = server.status();
  if (ctx.json()) {
    auto json = to_json(status);
    json["started"] = started;
    std::cout << json.dump() << '\n';
  } else {
    print_status(status, started ? "started" : "already running");
  }
  return 0;
}

int stop(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const bool stopped =
    server.stop(options.immediate ? stop_mode::immediate : stop_mode::fast);
  if (ctx.json()) {
    auto json = to_json(server.status());
    json["stopped"] = stopped;
    std::cout << json.dump() << '\n';
  } else {
    std::cout << (stopped ? "stopped\n" : "not running\n");
  }
  return 0;
}

int status(const dev_options& options, const context& ctx) {
  const auto now = private_server{options.server}.status();
  if (ctx.json())
    std::cout << to_json(now).dump() << '\n';
  else
    print_status(now, "running");
  return now.running ? 0 : 1;
}

int print_url(const dev_options& options, const context& ctx) {
  const auto url = private_server{options.server}.url();
  if (ctx.json())
    std::cout << nlohmann::json{{"url", url}}.dump() << '\n';
  else
    std::cout << url << '\n';
  return 0;
}

int psql(const dev_options& options) {
  const private_server server{options.server};
  auto url = server.url();
  auto program = server.psql().string();
  if (program.empty())
    throw error{code::server_binaries_missing, "there is no psql",
                "install the Debian package postgresql-client"};
  auto arguments = options.psql_arguments;
  std::vector<char*> argv{program.data(), url.data()};
  for (auto& argument : arguments)
    argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::cout.flush();
  execv(program.c_str(), argv.data());
  throw error{code::command_not_found,
              "cannot run " + program + ": " + std::strerror(errno)};
}

int destroy(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const bool destroyed = server.destroy();
  if (ctx.json())
    std::cout << nlohmann::json{{"destroyed", destroyed},
                                {"data", server.status().folder.string()}}
                   .dump()
              << '\n';
  else
    std::cout << (destroyed ? "destroyed\n" : "there is nothing to destroy\n");
  return 0;
}

void add_data_option(CLI::App& verb, dev_options& options) {
  verb.add_option("--data", options.server.folder, "folder of the server")
    ->type_name("DIR")
    ->capture_default_str();
  verb
    .add_option("--pg-bin", options.server.binaries,
                "folder of PostgreSQL's server programs")
    ->type_name("DIR")
    ->envname("SQLSTREAMS_PG_BIN");
}

} // namespace

void add_dev_commands(CLI::App& app, context& ctx) {
  auto* dev = app.add_subcommand(
    "dev", "A private PostgreSQL for development, in a folder of its own");
  dev->require_subcommand(1);

  const auto add = [&](const char* name, const char* text, auto run) {
    auto* verb = dev->add_subcommand(name, text);
    auto options = std::make_shared<dev_options>();
    add_data_option(*verb, *options);
    verb->callback([=, &ctx] {
      ctx.action = [=, &ctx] {
        return run(*options, ctx);
      };
    });
    return std::pair{verb, options};
  };

  const auto [start_verb, start_options] =
    add("start", "Start it; it is made first if need be", start);
  start_verb
    ->add_option("--set", start_options->server.settings,
                 "a server setting, remembered; may be repeated")
    ->type_name("NAME=VALUE")
    ->take_all()
    ->expected(1);

  const auto [stop_verb, stop_options] = add("stop", "Stop it", stop);
  stop_verb->add_flag("--immediate", stop_options->immediate,
                      "as in a crash: the next start recovers");

  add("status", "Say whether it runs (exit status 0) or not (1)", status);
  add("url", "Print its address, for SQLSTREAMS_DATABASE_URL", print_url);
  add("destroy", "Stop it and remove its folder and all that is in it",
      destroy);

  auto* psql_verb = dev->add_subcommand(
    "psql", "Open psql on it; further arguments are psql's");
  auto psql_options = std::make_shared<dev_options>();
  add_data_option(*psql_verb, *psql_options);
  // Whatever is not an option of ours is psql's, not a global option.
  psql_verb->prefix_command();
  psql_verb->fallthrough(false);
  psql_verb->callback([=, &ctx] {
    psql_options->psql_arguments = psql_verb->remaining();
    ctx.action = [=] {
      return psql(*psql_options);
    };
  });
}

} // namespace sqlstreams
