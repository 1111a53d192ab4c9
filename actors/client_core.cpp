#include "actors/client_core.hpp"

#include "actors/messages.hpp"

#include <fmt/format.h>

namespace sqlstreams {

client_core::client_core(node_options options)
  : node_{options}, transactions_{std::in_place,
                                  postgres_options{options.url, options.schema,
                                                   node_.options().name},
                                  options.retry} {}

client_core::client_core(const std::shared_ptr<store_factory>& factory,
                         node_options options)
  : node_{factory, std::move(options)} {}

stream_info client_core::find_stream(const std::string& name) {
  auto found = ask_storage<stream_reply>(find_stream_request{name}).stream;
  if (!found)
    throw error{code::stream_not_found,
                fmt::format("stream \"{}\" is not registered", name)};
  return *std::move(found);
}

group_info client_core::find_group(const stream_info& stream,
                                   const std::string& name) {
  auto found =
    ask_storage<group_reply>(find_group_request{stream.id, name}).group;
  if (!found)
    throw error{
      code::group_not_found,
      fmt::format("stream \"{}\" has no group \"{}\"", stream.name, name)};
  return *std::move(found);
}

transactions& client_core::application_transactions() {
  if (!transactions_)
    throw error{code::invalid_option,
                "transactions of the application need PostgreSQL, and this "
                "client is connected to another store",
                "Make the client with a database URL."};
  if (node_.stopped())
    throw error{code::shutting_down};
  return *transactions_;
}

void client_core::close() noexcept { node_.stop(); }

} // namespace sqlstreams
