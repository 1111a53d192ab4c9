#include "apps/sqlstreams/installation.hpp"

#include "actors/keyed_policy.hpp"
#include "actors/log.hpp"
#include "config/names.hpp"
#include "config/toml_reader.hpp"

#include <cstdlib>

namespace sqlstreams {

namespace {

constexpr const char* url_variable = "SQLSTREAMS_DATABASE_URL";

std::optional<std::string> environment_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? std::optional<std::string>(value) : std::nullopt;
}

/// Whoever writes a secret to a file ends it with a line break.
std::optional<std::string> secret_file(const std::string& path) {
  try {
    auto text = read_text_file(path);
    while (text.ends_with('\n') || text.ends_with('\r'))
      text.pop_back();
    return text;
  } catch (const error&) {
    return std::nullopt;
  }
}

/// The more particular comes first: the command line, a file, the environment.
std::string choose_url(const context& ctx, const database_config& file) {
  auto url = !ctx.database_url.empty() ? ctx.database_url : file.url;
  if (url.empty())
    url = environment_variable(url_variable).value_or("");
  if (url.empty())
    throw error(code::invalid_database_url, "no database address was given",
                "give --database-url, set SQLSTREAMS_DATABASE_URL, or write "
                "url into the file's [database]; `sqlstreams dev start` "
                "provides a private server");
  return url;
}

node_options options_for(const context& ctx, const configuration& file,
                         missing_tables tables) {
  node_options options;
  options.url = choose_url(ctx, file.database);
  options.schema = ctx.schema_given ? ctx.schema : file.database.schema;
  options.max_connections =
    static_cast<std::size_t>(file.database.max_connections);
  options.retry = file.database.retry;
  options.name = file.node.name;
  options.register_system = tables == missing_tables::make;
  return options;
}

/// The file of `--config`, if there is one.
configuration named_file(const context& ctx) {
  return ctx.config_file.empty() ? configuration{} : load_file(ctx.config_file);
}

std::string schema_of(const client& db) { return db.node().options().schema; }

/// An installation that is missing holds no stream either; that is what the
/// user needs to know.
std::optional<stream_info> find_stream(const client& db,
                                       const std::string& name) {
  try {
    return db.stream(name).get();
  } catch (const error& e) {
    if (e.number() != code::system_not_registered)
      throw;
    return std::nullopt;
  }
}

} // namespace

configuration load_file(const std::string& path) {
  auto file = load_configuration(path, {environment_variable, secret_file});
  for (const auto& stream : file.streams)
    for (const auto& group : stream.groups)
      refuse_keyed_policy(group.config, path + ": group " + group.name
                                          + " of stream " + stream.name);
  return file;
}

client connect(const context& ctx, missing_tables tables) {
  return connect(ctx, named_file(ctx), tables);
}

client connect(const context& ctx, const configuration& file,
               missing_tables tables) {
  return client{options_for(ctx, file, tables)};
}

std::optional<client> connect_unless(const std::stop_token& stop,
                                     const context& ctx,
                                     missing_tables tables) {
  return connect_unless(stop, ctx, named_file(ctx), tables);
}

std::optional<client> connect_unless(const std::stop_token& stop,
                                     const context& ctx,
                                     const configuration& file,
                                     missing_tables tables) {
  auto options = options_for(ctx, file, tables);
  options.stop = stop;
  try {
    return std::optional<client>{std::in_place, std::move(options)};
  } catch (const error& e) {
    if (e.number() != code::shutting_down)
      throw;
    return std::nullopt;
  }
}

stream_info require_stream(const client& db, const std::string& name) {
  validate_name(name_kind::stream, name);
  if (auto found = find_stream(db, name))
    return *std::move(found);
  throw error(code::stream_not_found,
              "no stream '" + name + "' is registered in schema '"
                + schema_of(db) + "'",
              "declare it in a file and run `sqlstreams apply FILE`, or "
              "correct the name: `sqlstreams stream list` shows all");
}

group_info require_group(const client& db, const std::string& stream,
                         const std::string& name) {
  validate_name(name_kind::group, name);
  require_stream(db, stream);
  if (auto found = db.stream(stream).consumer(name).get())
    return *std::move(found);
  throw error(code::group_not_found,
              "stream '" + stream + "' has no consumer group '" + name + "'",
              "declare it in a file and run `sqlstreams apply FILE`, or "
              "correct the name: `sqlstreams consumer list "
                + stream + "` shows all");
}

} // namespace sqlstreams
