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
#include "apps/sqlstreams/produce_commands.hpp"
#include "apps/sqlstreams/run_commands.hpp"
#include "apps/sqlstreams/stream_commands.hpp"
#include "apps/sqlstreams/system_commands.hpp"
#include "config/error.hpp"

#include <fcntl.h>

#include <exception>
#include <map>
#include <string>
#include <string_view>

namespace sqlstreams {
namespace {

void add_global_options(CLI::App& app, context& ctx) {
  app.add_option("--database-url", ctx.database_url, "address of the database")
    ->envname("SQLSTREAMS_DATABASE_URL")
    ->type_name("URL");
  app.add_option("--schema", ctx.schema, "schema of the tables")
    ->capture_default_str();
  app.add_option("--config", ctx.config_file, "configuration")
    ->type_name("FILE");
  app.add_option("--output", ctx.output, "form of the result")
    ->type_name("text|json")
    ->transform(CLI::CheckedTransformer(std::map<std::string, output_format>{
                                          {"text", output_format::text},
                                          {"json", output_format::json}})
                  .description(""));
  app.add_flag("--yes", ctx.yes, "answer questions with yes");
  app.add_flag("--no-color", ctx.no_color, "no colours");
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

/// @returns the exit status
int refuse(const CLI::App& app, const CLI::ParseError& why,
           output_format format) {
  // Help and version end as an "error" with status 0.
  if (why.get_exit_code() == 0 || format == output_format::text)
    return app.exit(why) == 0 ? 0 : 2;
  print_failure(error(code::usage, why.what()), format);
  return 2;
}

/// @returns the exit status of the command
int run(const context& ctx) {
  configure_log(
    {log_level::warning, ctx.json() ? log_format::json : log_format::text});
  try {
    return ctx.action();
  } catch (const std::exception& failure) {
    print_failure(failure, ctx.output);
    return 1;
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
    return refuse(app, why, wanted_output(argc, argv));
  }
  return run(ctx);
}
