#include "apps/sqlstreams/apply_commands.hpp"

#include "actors/json_line.hpp"
#include "apps/sqlstreams/declarations.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/standard_output.hpp"

#include <memory>

namespace sqlstreams {

namespace {

std::string as_json(const declared_item& item) {
  json_line line;
  line.add("kind", item.kind).add("stream", item.stream);
  if (!item.group.empty())
    line.add("group", item.group).add("bindings", to_string(item.bindings));
  return line.add("effect", to_string(item.effect))
           .add("changes", item.changes)
           .str()
         + '\n';
}

std::string as_text(const declared_item& item) {
  std::string text{item.kind};
  text += ' ' + item.stream;
  if (!item.group.empty())
    text += '/' + item.group;
  text.append(": ").append(to_string(item.effect));
  if (item.bindings == binding_effect::waiting)
    text += ", bindings wait for live instances that declare others";
  if (!item.changes.empty())
    text += ", " + item.changes;
  return text + '\n';
}

int apply_file(const std::string& path, const context& ctx) {
  const auto file = load_file(path);
  const auto db = connect(ctx, file, missing_tables::make);
  bool told = true;
  apply_declarations(db, file, [&](const declared_item& item) {
    told = told && write_out(ctx.json() ? as_json(item) : as_text(item));
  });
  if (file.streams.empty() && !ctx.json())
    told = write_out("nothing is declared in " + path + "\n");
  return told ? 0 : 1;
}

} // namespace

void add_apply_commands(CLI::App& app, context& ctx) {
  auto* command =
    app.add_subcommand("apply", "Register the streams and groups of a file");
  auto path = std::make_shared<std::string>();
  command->add_option("FILE", *path, "configuration in TOML")->required();
  command->callback([&ctx, path] {
    ctx.action = [&ctx, path] {
      return apply_file(*path, ctx);
    };
  });
}

} // namespace sqlstreams
