#include "apps/sqlstreams/declarations.hpp"

namespace sqlstreams {

namespace {

declared_item declare(const raw_stream& stream,
                      const stream_declaration& declaration) {
  const auto result = stream.register_stream(declaration.config);
  declared_item item{"stream", declaration.name};
  item.effect = result.effect;
  item.changes = result.changes;
  return item;
}

declared_item declare(const raw_stream& stream,
                      const group_declaration& declaration) {
  const auto result = stream.consumer(declaration.name)
                        .register_group(declaration.config)
                        .registration();
  declared_item item{"group", stream.name(), declaration.name};
  item.effect = result.effect;
  item.bindings = result.bindings;
  item.changes = result.changes;
  return item;
}

} // namespace

void apply_declarations(const client& db, const configuration& file,
                        const std::function<void(const declared_item&)>& told) {
  for (const auto& declaration : file.streams) {
    const auto stream = db.stream(declaration.name);
    told(declare(stream, declaration));
    for (const auto& group : declaration.groups)
      told(declare(stream, group));
  }
}

} // namespace sqlstreams
