#include "apps/sqlstreams/configuration_json.hpp"

#include "actors/json_line.hpp"
#include "config/database_url.hpp"
#include "config/duration.hpp"
#include "config/options_json.hpp"

#include <nlohmann/json.hpp>

namespace sqlstreams {

namespace {

template <class Value, class Write>
std::string array(const std::vector<Value>& values, Write write) {
  std::string text = "[";
  for (const auto& value : values)
    text.append(text.size() > 1 ? "," : "").append(write(value));
  return text + "]";
}

std::string handler_json(const group_declaration& group) {
  if (!group.handler)
    return "null";
  if (const auto* exec = std::get_if<exec_handler>(&*group.handler))
    return json_line{}
      .add_json("exec", array(exec->command, json_quoted))
      .str();
  if (std::holds_alternative<log_handler>(*group.handler))
    return json_line{}.add("log", true).str();
  if (const auto* http = std::get_if<http_handler>(&*group.handler))
    return json_line{}.add("http", mask_url(http->url)).str();
  return json_line{}
    .add("actor", mask_url(std::get<actor_handler>(*group.handler).url))
    .str();
}

std::string consume_json(const consume_options& sparse) {
  const auto options = sparse.with_defaults();
  return json_line{}
    .add("batch_limit", options.batch_limit)
    .add("batch_max", options.batch_max)
    .add("queue_size", options.queue_size)
    .add("queue_bytes", options.queue_bytes)
    .add("message_concurrency", options.message_concurrency)
    .add("exception_concurrency", options.exception_concurrency)
    .add("claim_poll_rate", format_duration(options.claim_poll_rate))
    .add("queue_margin", format_duration(options.queue_margin))
    .add("record_margin", format_duration(options.record_margin))
    .add("timeout_grace", format_duration(options.timeout_grace))
    .add("slow_dispatch_threshold",
         format_duration(options.slow_dispatch_threshold))
    .add("instance_ttl", format_duration(options.instance_ttl))
    .add("binding_retry_interval",
         format_duration(options.binding_retry_interval))
    .add("config_refresh_interval",
         format_duration(options.config_refresh_interval))
    .add("shutdown_timeout", format_duration(options.shutdown_timeout))
    .str();
}

std::string group_json(const group_declaration& group) {
  return json_line{}
    .add("name", group.name)
    .add("schema_version", group.schema_version)
    .add_json("config", to_json_text(group.config.with_defaults()))
    .add_json("consume", consume_json(group.consume))
    .add_json("handler", handler_json(group))
    .str();
}

std::string stream_json(const stream_declaration& stream) {
  return json_line{}
    .add("name", stream.name)
    .add_json("config", to_json_text(stream.config.with_defaults()))
    .add_json("groups", array(stream.groups, group_json))
    .str();
}

std::string database_json(const database_config& database) {
  return json_line{}
    .add_optional("url", mask_url(database.url))
    .add("schema", database.schema)
    .add("max_connections", database.max_connections)
    .add_json(
      "retry",
      nlohmann::json(database.retry.with_defaults(retry_job::database)).dump())
    .str();
}

} // namespace

std::string configuration_json(const configuration& value) {
  return json_line{}
           .add_json("database", database_json(value.database))
           .add_json("node", json_line{}
                               .add_optional("name", value.node.name)
                               .add("on_session_end",
                                    to_string(value.node.on_session_end))
                               .str())
           .add_json("streams", array(value.streams, stream_json))
           .str()
         + '\n';
}

} // namespace sqlstreams
