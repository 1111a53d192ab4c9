#include "apps/sqlstreams/stream_commands.hpp"

#include "actors/json_line.hpp"
#include "actors/timestamp_text.hpp"
#include "apps/sqlstreams/installation.hpp"
#include "apps/sqlstreams/standard_output.hpp"
#include "apps/sqlstreams/text_table.hpp"
#include "config/duration.hpp"
#include "config/options_json.hpp"

#include <memory>

namespace sqlstreams {

namespace {

std::string as_json(const stream_info& stream) {
  return json_line{}
           .add("name", stream.name)
           .add("id", stream.id)
           .add("created_at", timestamp_text(stream.created_at))
           .add_json("config", to_json_text(stream.config))
           .str()
         + '\n';
}

std::string retention_text(const stream_config& config) {
  return config.retention.count() == 0 ? "for ever"
                                       : format_duration(config.retention);
}

std::string as_table(const std::vector<stream_info>& streams) {
  using enum text_table::alignment;
  text_table table{{{"NAME"},
                    {"ID", right},
                    {"RETENTION", right},
                    {"PARTITION SIZE", right},
                    {"CREATED"}}};
  for (const auto& stream : streams) {
    const auto config = stream.config.with_defaults();
    table.add_row({stream.name, std::to_string(stream.id),
                   retention_text(config),
                   std::to_string(config.partition_size),
                   timestamp_text(stream.created_at)});
  }
  return table.render(output_width());
}

int list(const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  const auto streams = db.streams();
  std::string text;
  if (!ctx.json())
    text = streams.empty() ? "no streams\n" : as_table(streams);
  else
    for (const auto& stream : streams)
      text += as_json(stream);
  return write_out(text) ? 0 : 1;
}

std::string as_text(const stream_info& stream) {
  const auto config = stream.config.with_defaults();
  return "stream " + stream.name + "\n  id              "
         + std::to_string(stream.id) + "\n  created         "
         + timestamp_text(stream.created_at) + "\n  retention       "
         + retention_text(config) + "\n  partition size  "
         + std::to_string(config.partition_size) + "\n  largest payload "
         + std::to_string(config.max_payload_bytes)
         + " bytes\n  delivery log    "
         + std::string(to_string(config.delivery_log)) + "\n  declared        "
         + to_json_text(stream.config) + '\n';
}

int get(const std::string& name, const context& ctx) {
  const auto db = connect(ctx, missing_tables::leave);
  const auto stream = require_stream(db, name);
  return write_out(ctx.json() ? as_json(stream) : as_text(stream)) ? 0 : 1;
}

} // namespace

void add_stream_commands(CLI::App& app, context& ctx) {
  auto* group = app.add_subcommand("stream", "Look at streams");
  group->require_subcommand(1);
  group->add_subcommand("list", "All streams")->callback([&ctx] {
    ctx.action = [&ctx] {
      return list(ctx);
    };
  });
  auto* one = group->add_subcommand("get", "One stream and its settings");
  auto name = std::make_shared<std::string>();
  one->add_option("STREAM", *name, "its name")->required();
  one->callback([&ctx, name] {
    ctx.action = [&ctx, name] {
      return get(*name, ctx);
    };
  });
}

} // namespace sqlstreams
