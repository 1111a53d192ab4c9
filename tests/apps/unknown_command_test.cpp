#include "apps/sqlstreams/unknown_command.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using Catch::Contains;

namespace {

/// What is said about words, with "" for nothing.
std::string said_about(const std::vector<std::string>& words) {
  CLI::App app;
  std::string output;
  app.add_option("--output", output);
  app.add_flag("--yes");
  auto* stream = app.add_subcommand("stream");
  stream->add_subcommand("list");
  auto* produce = app.add_subcommand("produce");
  produce->add_option("STREAM");
  return describe_unknown_command(app, words).value_or("");
}

} // namespace

SCENARIO("a mistyped command is answered with the nearest one", "[cli]") {
  CHECK_THAT(said_about({"prodcue"}),
             Contains("'prodcue'") && Contains("the nearest is 'produce'"));
  CHECK_THAT(said_about({"stream", "lst"}),
             Contains("the nearest is 'stream list'"));
  CHECK_THAT(said_about({"--output", "json", "--yes", "strem"}),
             Contains("the nearest is 'stream'"));
  CHECK_THAT(said_about({"--output=json", "zzzzzzzz"}),
             Contains("there are") && Contains("stream, produce"));
}

SCENARIO("what is no command's name is left to the command", "[cli]") {
  CHECK(said_about({}).empty());
  CHECK(said_about({"stream"}).empty());
  CHECK(said_about({"stream", "list"}).empty());
  CHECK(said_about({"produce", "orders", "1"}).empty());
  CHECK(said_about({"--output", "strem", "produce"}).empty());
}
