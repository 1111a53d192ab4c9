// The demo: orders from a file through a stream to a fleet of consumer
// processes, one of which is killed, and an account of every order.
#include "actors/log.hpp"
#include "apps/demo/consumer_role.hpp"
#include "apps/demo/demo_run.hpp"
#include "apps/demo/interruption.hpp"

#include <CLI/CLI.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <optional>
#include <string>

namespace sqlstreams::demo {
namespace {

/// What the process is to be.
struct command_line {
  demo_options options;
  consumer_role role; ///< number 0: not a consumer
};

void add_options(CLI::App& app, command_line& line) {
  app.add_option("--messages", line.options.messages, "orders to produce")
    ->check(CLI::Range(1, 10'000'000))
    ->capture_default_str();
  app.add_option("--consumers", line.options.consumers, "consumer processes")
    ->check(CLI::Range(1, 64))
    ->capture_default_str();
  app.add_option("--seed", line.options.seed, "of the orders' contents")
    ->capture_default_str();
  app.add_flag("!--no-kill", line.options.kill, "kill no consumer");
  app.add_flag("--keep", line.options.keep,
               "leave the server and all files in place");
}

/// How the fleet starts this program; not for people.
void add_role(CLI::App& app, consumer_role& role) {
  app.add_option("--as-consumer", role.number)->group("");
  app.add_option("--folder", role.folder)->group("");
  app.add_option("--schema", role.schema)->group("");
  app.add_option("--parent", role.parent)->group("");
}

/// What cannot go together; empty if all can.
std::string contradiction(const demo_options& options) {
  if (options.kill && options.consumers < 2)
    return "with one consumer nobody is left after the kill: use --consumers 2 "
           "or more, or --no-kill";
  return {};
}

std::string database_url() {
  const char* given = std::getenv("SQLSTREAMS_DATABASE_URL");
  return given ? given : "";
}

int run(command_line& line) {
  if (line.role.number > 0) {
    line.role.url = database_url();
    return run_consumer(line.role);
  }
  watch_interruptions();
  configure_log({log_level::error, log_format::text});
  line.options.url = database_url();
  return run_demo(line.options);
}

} // namespace
} // namespace sqlstreams::demo

int main(int argc, char** argv) {
  using namespace sqlstreams::demo;
  command_line line;
  CLI::App app{"Produces a file of orders, has them handled by several "
               "processes, kills one of them, and accounts for every order.\n"
               "Starts a PostgreSQL of its own unless SQLSTREAMS_DATABASE_URL "
               "names one.",
               "sqlstreams-demo"};
  add_options(app, line);
  add_role(app, line.role);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return app.exit(why) == 0 ? 0 : 2;
  }
  if (const auto why = contradiction(line.options);
      line.role.number == 0 && !why.empty()) {
    std::cerr << "demo: " << why << '\n';
    return 2;
  }
  try {
    return run(line);
  } catch (const std::exception& failure) {
    std::cerr << "demo: " << failure.what() << '\n';
    return 1;
  }
}
