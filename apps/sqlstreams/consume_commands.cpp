#include "apps/sqlstreams/consume_commands.hpp"

#include "actors/exec_handler.hpp"
#include "actors/log.hpp"
#include "actors/log_handler.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/message_printer.hpp"
#include "apps/sqlstreams/option_types.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/tail.hpp"
#include "config/duration.hpp"
#include "config/error.hpp"
#include "config/names.hpp"

#include <memory>

namespace sqlstreams {

namespace {

struct consume_arguments {
  std::string stream;
  std::string group;
  std::string handler = "print";
  std::vector<std::string> command;   ///< of handler `exec`
  std::chrono::nanoseconds timeout{}; ///< of a group that is made; 0: default
  consume_run run{};
  bool tail = false;
  bool from_beginning = false;
  std::optional<message_id> after{};
};

error closed_output() {
  if (const auto why = output_failure())
    return error(why->number(), why->detail()
                                  + "; what was not written was not recorded "
                                    "as handled");
  return error(code::handler_failed, recovery::permanent,
               "standard output was closed before all messages were written; "
               "what was not written was not recorded as handled",
               "keep the reader open, or end the command with --max");
}

/// Takes the group as it is, or registers it with defaults and says so.
raw_consumer open_group(const client& db, const consume_arguments& what) {
  validate_name(name_kind::group, what.group);
  require_stream(db, what.stream);
  const auto group = db.stream(what.stream).consumer(what.group);
  if (const auto known = group.get()) {
    const auto timeout = known->config.with_defaults().message.timeout;
    if (what.timeout.count() != 0 && timeout != what.timeout)
      throw error(code::invalid_option,
                  "--timeout is " + format_duration(what.timeout)
                    + ", but group '" + what.group
                    + "' is registered with message.timeout "
                    + format_duration(timeout),
                  "leave --timeout out, or change the group's settings with "
                  "`sqlstreams apply FILE`");
    return group.open();
  }
  consumer_config config;
  config.message.timeout = what.timeout;
  auto consumer = group.register_group(config);
  log_event(code::group_registered_with_defaults, log_level::warning,
            "the group did not exist and was registered with default settings",
            {field("stream", what.stream), field("group", what.group)});
  return consumer;
}

int consume(const consume_arguments& what, const context& ctx) {
  // Shared with the handler, which may outlive this function if it hangs in a
  // write.
  std::stop_source stop;
  const std::stop_callback on_signal{stop_on_signals(), [stop]() mutable {
                                       stop.request_stop();
                                     }};
  const auto printer = std::make_shared<message_printer>(
    ctx.output, [stop]() mutable { stop.request_stop(); });
  message_handler handler = [printer](delivery& run) {
    return (*printer)(run);
  };
  // A command that does not exist is said before anything is registered.
  if (what.handler == "exec")
    handler = make_exec_handler(what.command);
  else if (what.handler == "log")
    handler = make_log_handler();

  const auto db = connect_unless(stop.get_token(), ctx, missing_tables::leave);
  if (!db)
    return 0;
  const auto group =
    unless(stop.get_token(), *db, [&] { return open_group(*db, what); });
  if (!group)
    return 0;
  group->consume(std::move(handler), what.run, stop.get_token());
  if (printer->closed())
    throw closed_output();
  return 0;
}

int tail(const consume_arguments& what, const context& ctx) {
  tail_options options{what.stream, what.after, what.run.max_messages};
  if (what.from_beginning)
    options.after = 0;
  const auto stop = stop_on_signals();
  const auto db = connect_unless(stop, ctx, missing_tables::leave);
  if (!db)
    return 0;
  const auto told =
    unless(stop, *db, [&] { return tail(*db, options, ctx, stop); });
  if (told && !*told)
    throw closed_output();
  return 0;
}

/// What CLI11 cannot say about options that need each other.
void check_usage(const consume_arguments& what) {
  if (what.tail == !what.group.empty())
    throw CLI::ValidationError("--group", "give either --group NAME or --tail");
  if (what.handler == "exec" && what.command.empty())
    throw CLI::ValidationError("--handler",
                               "exec needs a command: --handler exec CMD...");
  if (what.handler != "exec" && !what.command.empty())
    throw CLI::ValidationError("COMMAND", "is for --handler exec only: '"
                                            + what.command.front() + "'");
}

void add_instance_options(CLI::App& command, consume_arguments& what) {
  auto& options = what.run.options;
  command
    .add_option("--concurrency", options.message_concurrency,
                "handlers at once")
    ->check(CLI::Range(1, 10'000).description(""));
  command
    .add_option("--batch", options.batch_limit, "messages claimed at once")
    ->check(CLI::Range(1, 10'000).description(""));
  add_duration(command, "--timeout", what.timeout,
               "of a handler's run, for a group that is made");
  add_duration(command, "--poll", options.claim_poll_rate,
               "between polls of an idle group");
  add_duration(command, "--queue-margin", options.queue_margin,
               "part of the lease for waiting in the queue");
  add_duration(command, "--record-margin", options.record_margin,
               "part of the lease for recording outcomes");
  add_duration(command, "--shutdown-timeout", options.shutdown_timeout,
               "for ending in order");
  command
    .add_option("--schema-version", what.run.schema_version,
                "of the payloads that are wanted")
    ->capture_default_str();
}

} // namespace

void add_consume_commands(CLI::App& app, context& ctx) {
  auto what = std::make_shared<consume_arguments>();
  auto* command = app.add_subcommand("consume", "Handle messages of a stream");
  command->add_option("STREAM", what->stream, "name of the stream")->required();
  command->add_option("COMMAND", what->command,
                      "of --handler exec, with its arguments; put -- before a "
                      "command with options of its own");
  command->add_option("--group", what->group,
                      "consumer group; made with default settings if absent");
  command
    ->add_option("--handler", what->handler,
                 "print each message, log it, or give it to a command")
    ->type_name("print|log|exec")
    ->check(CLI::IsMember({"print", "log", "exec"}).description(""))
    ->capture_default_str();
  command
    ->add_option("--max", what->run.max_messages, "end after so many messages")
    ->check(CLI::PositiveNumber.description(""));
  add_instance_options(*command, *what);
  auto* tail_flag = command->add_flag(
    "--tail", what->tail, "read along without a group, from now on");
  auto* beginning = command->add_flag("--from-beginning", what->from_beginning,
                                      "with --tail: all there is");
  command->add_option("--after", what->after, "with --tail: ids above this one")
    ->check(CLI::NonNegativeNumber.description(""))
    ->excludes(beginning)
    ->needs(tail_flag);
  beginning->needs(tail_flag);
  command->callback([&ctx, what] {
    check_usage(*what);
    stop_on_signals(); // from now on a signal ends it in order
    ctx.action = [&ctx, what] {
      return what->tail ? tail(*what, ctx) : consume(*what, ctx);
    };
  });
}

} // namespace sqlstreams
