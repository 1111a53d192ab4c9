// The command line: global options, the groups of commands, exit status.
#include "actors/log.hpp"
#include "apps/sqlstreams/apply_commands.hpp"
#include "apps/sqlstreams/config_commands.hpp"
#include "apps/sqlstreams/consume_commands.hpp"
#include "apps/sqlstreams/consumer_commands.hpp"
#include "apps/sqlstreams/context.hpp"
#include "apps/sqlstreams/dev_commands.hpp"
#include "apps/sqlstreams/explain_commands.hpp"
#include "apps/sqlstreams/failure_output.hpp"
#include "apps/sqlstreams/held_signals.hpp"
#include "apps/sqlstreams/produce_commands.hpp"
#include "apps/sqlstreams/run_commands.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/stream_commands.hpp"
#include "apps/sqlstreams/system_commands.hpp"
#include "apps/sqlstreams/unknown_command.hpp"
#include "config/error.hpp"

#include <fcntl.h>

#include <algorithm>
#include <exception>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {
namespace {

const std::map<std::string, log_level>& log_levels() {
  static const std::map<std::string, log_level> levels{
    {"debug", log_level::debug},
    {"info", log_level::info},
    {"warning", log_level::warning},
    {"error", log_level::error},
    {"off", log_level::off}};
  return levels;
}

void add_global_options(CLI::App& app, context& ctx) {
  // The environment is not read here: a file comes before it, the option before
  // both.
  app
    .add_option("--database-url", ctx.database_url,
                "address of the database, before that of a file and of "
                "SQLSTREAMS_DATABASE_URL")
    ->type_name("URL");
  app
    .add_option_function<std::string>(
      "--schema",
      [&ctx](const std::string& name) {
        ctx.schema = name;
        ctx.schema_given = true;
      },
      "schema of the tables")
    ->default_str(ctx.schema);
  app.add_option("--config", ctx.config_file, "configuration")
    ->type_name("FILE");
  app.add_option("--output", ctx.output, "form of the result")
    ->type_name("text|json")
    ->transform(CLI::CheckedTransformer(std::map<std::string, output_format>{
                                          {"text", output_format::text},
                                          {"json", output_format::json}})
                  .description(""));
  app
    .add_option_function<std::string>(
      "--log-level",
      [&ctx](const std::string& name) { ctx.log = log_levels().at(name); },
      "least severe lines of the log on standard error; else info for run, "
      "warning for the other commands")
    ->type_name("debug|info|warning|error|off")
    ->check(CLI::IsMember(log_levels()).description(""));
  app.add_flag("--yes", ctx.yes, "answer questions with yes");
  app.add_flag("--no-color", ctx.no_color, "no colours");
  app.set_version_flag("--version", "sqlstreams " SQLSTREAMS_VERSION);
}

void add_commands(CLI::App& app, context& ctx) {
  add_run_commands(app, ctx);
  add_apply_commands(app, ctx);
  add_config_commands(app, ctx);
  add_produce_commands(app, ctx);
  add_consume_commands(app, ctx);
  add_stream_commands(app, ctx);
  add_consumer_commands(app, ctx);
  add_system_commands(app, ctx);
  add_explain_commands(app, ctx);
  add_dev_commands(app, ctx);
}

/// The wanted form of a command line that could not be understood.
output_format wanted_output(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view text = argv[i];
    const std::string_view next = i + 1 < argc ? argv[i + 1] : "";
    if (text == "--output=json" || (text == "--output" && next == "json"))
      return output_format::json;
  }
  return output_format::text;
}

/// Prints why standard output could not be written, if so.
/// @returns the exit status
int finish(int status, output_format format) {
  const auto failure = output_failure();
  if (!failure)
    return status;
  print_failure(*failure, format);
  return 1;
}

/// @returns the exit status
int refuse(const CLI::App& app, const CLI::ParseError& why,
           const std::vector<std::string>& words, output_format format) {
  // Help and version end as an "error" with status 0.
  if (why.get_exit_code() == 0) {
    std::ostringstream text;
    app.exit(why, text, text);
    return finish(write_out(text.str()) ? 0 : 1, format);
  }
  const auto unknown = describe_unknown_command(app, words);
  if (!unknown && format == output_format::text)
    app.exit(why);
  else
    print_failure(error(code::usage, unknown.value_or(why.what())), format);
  return 2;
}

/// @returns the exit status of the command
int run(const context& ctx) {
  configure_log(ctx.logging(log_level::warning));
  try {
    return finish(ctx.action(), ctx.output);
  } catch (const std::exception& failure) {
    print_failure(failure, ctx.output);
    const auto* coded = dynamic_cast<const error*>(&failure);
    return coded && coded->number() == code::usage ? 2 : 1;
  }
}

/// Whoever closed standard output must not find its text in a database
/// connection that got the same number. Read-only, so that writing fails.
void occupy_standard_streams() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor)
    if (::fcntl(descriptor, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", O_RDONLY));
}

} // namespace
} // namespace sqlstreams

int main(int argc, char** argv) {
  using namespace sqlstreams;
  std::optional<held_signals> held{std::in_place};
  occupy_standard_streams();
  context ctx;
  CLI::App app{"SQLStreams: streams and retries in PostgreSQL", "sqlstreams"};
  app.require_subcommand(1);
  app.fallthrough(); // global options may stand behind the command, too
  app.footer("Exit status: 0 done, 1 failed or absent, 2 not understood.");
  add_global_options(app, ctx);
  add_commands(app, ctx);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return refuse(app, why, {argv + std::min(argc, 1), argv + argc},
                  wanted_output(argc, argv));
  }
  held.reset(); // its signals are taken over by now, if they are to be
  return run(ctx);
}
