#include "config/configuration.hpp"

#include "config/configuration_options.hpp"

namespace sqlstreams {

namespace {

template <class T>
void print_section(std::string& to, const std::string& header, const T& from,
                   const option_table<T>& options) {
  to.append(to.empty() ? "" : "\n").append("[" + header + "]\n");
  for (const auto& one : options)
    if (const auto value = one.print(from))
      to.append(one.name).append(" = ").append(*value).append("\n");
}

void print_group(std::string& to, const std::string& stream,
                 group_declaration group) {
  group.config = group.config.with_defaults();
  group.consume = group.consume.with_defaults();
  print_section(to, stream + ".groups." + quote_key(group.name), group,
                group_options());
}

void print_stream(std::string& to, stream_declaration stream) {
  stream.config = stream.config.with_defaults();
  if (stream.producer)
    stream.producer = stream.producer->with_defaults();
  const auto header = "streams." + quote_key(stream.name);
  print_section(to, header, stream, stream_options());
  for (const auto& group : stream.groups)
    print_group(to, header, group);
}

} // namespace

std::string_view to_string(session_end_action value) noexcept {
  return value == session_end_action::stop ? "stop" : "restart";
}

std::string print_configuration(const configuration& value) {
  std::string text;
  auto database = value.database;
  database.retry = database.retry.with_defaults(retry_job::database);
  print_section(text, "database", database, database_options());
  print_section(text, "node", value.node, node_options());
  for (const auto& stream : value.streams)
    print_stream(text, stream);
  return text;
}

} // namespace sqlstreams
