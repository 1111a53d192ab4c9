#include "apps/sqlstreams/dev_commands.hpp"

#include "apps/dev_server/private_server.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "config/error.hpp"

#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>
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
std::string status_text(const private_server_status& status,
                        const std::string& state) {
  const auto data = "\n  data " + status.folder.string() + '\n';
  if (!status.running)
    return "not running" + data;
  return state + "\n  url  " + status.url + "\n  pid  "
         + std::to_string(*status.pid) + data + "  log  " + status.log.string()
         + '\n';
}

/// @returns the exit status
int print(const std::string& text) { return write_out(text) ? 0 : 1; }
int print(const nlohmann::json& json) { return print(json.dump() + '\n'); }

int start(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const bool started = server.start();
  const auto status = server.status();
  if (ctx.json()) {
    auto json = to_json(status);
    json["started"] = started;
    return print(json);
  }
  return print(status_text(status, started ? "started" : "already running"));
}

int stop(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const bool stopped =
    server.stop(options.immediate ? stop_mode::immediate : stop_mode::fast);
  if (ctx.json()) {
    auto json = to_json(server.status());
    json["stopped"] = stopped;
    return print(json);
  }
  return print(std::string{stopped ? "stopped\n" : "not running\n"});
}

int status(const dev_options& options, const context& ctx) {
  const auto now = private_server{options.server}.status();
  const auto printed =
    ctx.json() ? print(to_json(now)) : print(status_text(now, "running"));
  return now.running ? printed : 1;
}

int print_url(const dev_options& options, const context& ctx) {
  const auto url = private_server{options.server}.url();
  return ctx.json() ? print(nlohmann::json{{"url", url}}) : print(url + '\n');
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
  execv(program.c_str(), argv.data());
  throw error{code::command_not_found,
              "cannot run " + program + ": " + std::strerror(errno)};
}

/// Asks on the terminal whether to go on.
/// @throws error usage if nobody is there to be asked
bool confirm(const std::string& what) {
  if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDERR_FILENO) == 0)
    throw error{code::usage,
                what
                  + " cannot be undone, and nobody is there to "
                    "confirm it",
                "Give --yes, or run it on a terminal"};
  std::cerr << what << " cannot be undone. Go on? [y/N] " << std::flush;
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

int destroy(const dev_options& options, const context& ctx) {
  private_server server{options.server};
  const auto folder = server.status().folder.string();
  std::error_code unknown;
  const bool something = std::filesystem::exists(folder, unknown);
  if (something && !ctx.yes
      && !confirm("destroying the server in " + folder + " and all its data")) {
    std::cerr << "nothing was destroyed\n";
    return 1;
  }
  const bool destroyed = server.destroy();
  if (ctx.json())
    return print(nlohmann::json{{"destroyed", destroyed}, {"data", folder}});
  return print(
    std::string{destroyed ? "destroyed\n" : "there is nothing to destroy\n"});
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
  add("destroy",
      "Stop it and remove its folder and all that is in it; asks, unless --yes",
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
