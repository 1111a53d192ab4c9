#pragma once
// What a client and its handles share.

#include "actors/ask.hpp"
#include "actors/node.hpp"
#include "actors/transactions.hpp"

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// A node with the requests that handles make of it. Thread-safe.
class client_core {
public:
  explicit client_core(node_options options);
  client_core(const std::shared_ptr<store_factory>& factory,
              node_options options);

  [[nodiscard]] sqlstreams::node& node() noexcept { return node_; }

  /// Asks storage.
  template <class Reply, class Request>
  Reply ask_storage(Request request) {
    return ask_service<Reply>(node_.storage(), std::move(request));
  }

  /// Asks the registrar.
  template <class Reply, class Request>
  Reply ask_registrar(Request request) {
    return ask_service<Reply>(node_.registrar(), std::move(request));
  }

  /// @throws error stream_not_found
  stream_info find_stream(const std::string& name);

  /// @throws error group_not_found
  group_info find_group(const stream_info& stream, const std::string& name);

  /// @throws error invalid_option if the client is not connected to PostgreSQL
  transactions& application_transactions();

  /// Ends the node; from then on every request throws shutting_down.
  void close() noexcept;

private:
  template <class Reply, class Request>
  Reply ask_service(const caf::actor& service, Request request) {
    if (node_.stopped())
      throw error{code::shutting_down};
    return ask<Reply>(node_.system(), service, std::move(request),
                      node_.deadline());
  }

  sqlstreams::node node_;
  std::optional<transactions> transactions_;
};

} // namespace sqlstreams
