#include "actors/client.hpp"

#include "actors/client_core.hpp"
#include "actors/messages.hpp"

namespace sqlstreams {

client::client(node_options options)
  : core_{std::make_shared<client_core>(std::move(options))} {}

client::client(const std::shared_ptr<store_factory>& factory,
               node_options options)
  : core_{std::make_shared<client_core>(factory, std::move(options))} {}

client::~client() { close(); }

client::client(client&&) noexcept = default;

client& client::operator=(client&& other) noexcept {
  if (this != &other) {
    close();
    core_ = std::move(other.core_);
  }
  return *this;
}

raw_stream client::stream(std::string name) const {
  return {core_, std::move(name)};
}

std::vector<stream_info> client::streams() const {
  return core_->ask_storage<streams_reply>(list_streams_request{}).streams;
}

std::optional<system_info> client::system() const {
  return core_->ask_storage<system_reply>(find_system_request{}).system;
}

system_registration client::register_system() const {
  return core_->ask_registrar<system_registration>(register_system_request{});
}

void client::transaction(const transaction_work& work) const {
  core_->application_transactions().run(work);
}

void client::close() noexcept {
  if (core_)
    core_->close();
}

node& client::node() const { return core_->node(); }

} // namespace sqlstreams
