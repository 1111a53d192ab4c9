#include "actors/typed_message.hpp"

#include <fmt/format.h>

namespace sqlstreams {

namespace {

std::string_view shown(std::string_view content_type) {
  return content_type.empty() ? "JSON" : content_type;
}

} // namespace

new_message with_options(new_message message, produce_options options) {
  message.routing_key = std::move(options.routing_key);
  message.message_key = std::move(options.message_key);
  message.headers = std::move(options.headers);
  message.options = std::move(options.options);
  message.idempotency_key = std::move(options.idempotency_key);
  return message;
}

outcome undecodable() {
  constexpr std::string_view what = "the payload cannot be decoded: {}";
  try {
    throw;
  } catch (const std::exception& e) {
    return dead(fmt::format(what, e.what()));
  } catch (...) {
    return dead(
      fmt::format(what, "the codec threw an exception of an unknown type"));
  }
}

outcome wrong_content_type(const delivery& run, std::string_view expected) {
  return dead(fmt::format("the payload is {}, and this consumer reads {}",
                          shown(run.message.content_type), shown(expected)));
}

} // namespace sqlstreams
