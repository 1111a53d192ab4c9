#include "actors/message_json.hpp"

#include "actors/json_line.hpp"
#include "actors/timestamp_text.hpp"

namespace sqlstreams {

namespace {

std::string headers_json(const message_headers& headers) {
  json_line line;
  for (const auto& [name, value] : headers)
    line.add(name, value);
  return line.str();
}

} // namespace

std::string message_json(const message& what, std::string_view stream,
                         const delivery* run) {
  json_line line;
  line.add("id", what.id);
  if (what.content_type.empty())
    line.add_json("payload", what.payload);
  else
    line.add("payload_base64", base64(what.payload))
      .add("content_type", what.content_type);
  if (run)
    line.add("attempt", run->attempt).add("delays", run->delays);
  line.add("stream", stream);
  if (run)
    line.add("group", run->group);
  line.add_optional("message_key", what.message_key)
    .add_optional("routing_key", what.routing_key)
    .add_json("headers", headers_json(what.headers))
    .add("schema_version", what.schema_version)
    .add("created_at", timestamp_text(what.created_at));
  return line.str();
}

} // namespace sqlstreams
