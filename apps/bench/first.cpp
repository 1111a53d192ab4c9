// Producing and consuming beside what PostgreSQL itself does with the same
// rows, in turn on one server.
#include "actors/log.hpp"
#include "apps/bench/measure/bench_server.hpp"
#include "apps/bench/measure/limit.hpp"
#include "apps/bench/measure/rate.hpp"
#include "apps/bench/measure/stream_side.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace sqlstreams::bench {
namespace {

struct bench_options {
  int seconds = 5;
  std::size_t messages = 100'000;
  int repetitions = 3;
  int handlers = 1;
  std::string only{};
  std::string json_file{};
};

constexpr int callers = 4;
constexpr std::size_t batch = 250;
constexpr std::size_t page = 1000;

void say(const std::string& text) { std::cerr << "bench: " << text << '\n'; }

/// Ends the run between two measurements.
void check_stop() {
  static const auto stop = stop_on_signals();
  if (stop.stop_requested())
    throw std::runtime_error("interrupted");
}

comparison compare_produce(const client& db, const std::string& url,
                           const bench_options& options) {
  comparison measured{
    .name = fmt::format("produce: batches of {}, {} callers", batch, callers),
    .goal = 0.6};
  const std::chrono::seconds duration{options.seconds};
  for (int i = 1; i <= options.repetitions; ++i) {
    check_stop();
    make_limit_table(url);
    settle_server(url);
    const auto limit = limit_produce(url, callers, batch, duration);
    make_limit_table(url);
    settle_server(url);
    const auto ours = produce_batches(db, fmt::format("bench.produce.{}", i),
                                      callers, batch, duration);
    say(fmt::format("produce {}: limit {:.0f}/s, sqlstreams {:.0f}/s", i,
                    limit.per_second(), ours.per_second()));
    measured.limit.push_back(limit.per_second());
    measured.streams.push_back(ours.per_second());
  }
  return measured;
}

comparison compare_consume(const client& db, const std::string& url,
                           const bench_options& options) {
  comparison measured{.name = fmt::format("consume: backlog of {}, {} handlers "
                                          "that do nothing",
                                          options.messages, options.handlers),
                      .goal = 0.6};
  const std::string stream = "bench.consume";
  preload(db, stream, options.messages);
  fill_limit_table(url, options.messages);
  for (int i = 1; i <= options.repetitions; ++i) {
    check_stop();
    settle_server(url);
    const auto limit = limit_read(url, page);
    settle_server(url);
    const auto ours = consume_all(db, stream, fmt::format("group-{}", i),
                                  options.messages, options.handlers);
    say(fmt::format("consume {}: limit {:.0f}/s, sqlstreams {:.0f}/s", i,
                    limit.per_second(), ours.per_second()));
    measured.limit.push_back(limit.per_second());
    measured.streams.push_back(ours.per_second());
  }
  return measured;
}

void write_json(const std::string& path,
                const std::vector<comparison>& measured) {
  std::ofstream file{path};
  file << to_json(measured);
  file.close();
  if (!file)
    throw std::runtime_error("'" + path + "' cannot be written");
}

int run(const bench_options& options) {
  configure_log({log_level::warning, log_format::text});
  check_stop(); // listens from here on
  say("starting a server");
  const bench_server server;
  const auto url = server.url();
  node_options node;
  node.url = url;
  node.name = "bench";
  const client db{node};
  std::vector<comparison> measured;
  if (options.only != "consume")
    measured.push_back(compare_produce(db, url, options));
  if (options.only != "produce")
    measured.push_back(compare_consume(db, url, options));
  for (const auto& one : measured)
    std::cout << to_text(one);
  if (!options.json_file.empty())
    write_json(options.json_file, measured);
  return 0;
}

void add_options(CLI::App& app, bench_options& options) {
  app.add_option("--seconds", options.seconds, "of each produce measurement")
    ->check(CLI::Range(1, 120))
    ->capture_default_str();
  app.add_option("--messages", options.messages, "in the backlog")
    ->check(CLI::Range(1, 10'000'000))
    ->capture_default_str();
  app.add_option("--repetitions", options.repetitions, "of each pair")
    ->check(CLI::Range(1, 100))
    ->capture_default_str();
  app.add_option("--handlers", options.handlers, "at once")
    ->check(CLI::Range(1, 64))
    ->capture_default_str();
  app.add_option("--only", options.only, "one of the two")
    ->check(CLI::IsMember({"produce", "consume"}));
  app.add_option("--json", options.json_file, "write the figures there, too")
    ->type_name("FILE");
}

} // namespace
} // namespace sqlstreams::bench

int main(int argc, char** argv) {
  using namespace sqlstreams::bench;
  bench_options options;
  CLI::App app{"Measures producing and consuming beside a plain COPY and a "
               "plain paged read of the same rows, payloads of 1,000 bytes, on "
               "a PostgreSQL of its own.",
               "bench_first"};
  add_options(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& why) {
    return app.exit(why) == 0 ? 0 : 2;
  }
  try {
    return run(options);
  } catch (const std::exception& failure) {
    std::cerr << "bench: " << failure.what() << '\n';
    return 1;
  }
}
