#include "apps/sqlstreams/system_commands.hpp"

#include "actors/json_line.hpp"
#include "actors/node.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "config/error.hpp"

namespace sqlstreams {

namespace {

int show(const system_info& system, std::string_view effect,
         const std::string& schema, const context& ctx) {
  std::string text;
  if (ctx.json()) {
    json_line line;
    line.add("schema", schema).add("version", system.version);
    if (!effect.empty())
      line.add("effect", effect);
    text = line.str() + '\n';
  } else {
    text = "installation in schema '" + schema + "', version "
           + std::to_string(system.version);
    text.append(effect.empty() ? "" : ": ").append(effect).append("\n");
  }
  return write_out(text) ? 0 : 1;
}

int register_it(const context& ctx) {
  // Not at connecting, which would not say what it did.
  const auto db = connect(ctx, missing_tables::leave);
  const auto result = db.register_system();
  return show(result.system, to_string(result.effect),
              db.node().options().schema, ctx);
}

int get(const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  const auto& schema = db.node().options().schema;
  const auto system = db.system();
  if (!system)
    throw error(code::system_not_registered,
                "schema '" + schema + "' holds no installation",
                "run `sqlstreams system register`, or correct --schema");
  return show(*system, "", schema, ctx);
}

} // namespace

void add_system_commands(CLI::App& app, context& ctx) {
  auto* group = app.add_subcommand("system", "The installation in a schema");
  group->require_subcommand(1);
  group->add_subcommand("register", "Make its tables, or find them")
    ->callback([&ctx] {
      ctx.action = [&ctx] {
        return register_it(ctx);
      };
    });
  group->add_subcommand("get", "Whether it is there, and its version")
    ->callback([&ctx] {
      ctx.action = [&ctx] {
        return get(ctx);
      };
    });
}

} // namespace sqlstreams
