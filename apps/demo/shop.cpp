#include "apps/demo/shop.hpp"

#include "apps/demo/order_file.hpp"

#include <utility>
#include <vector>

namespace sqlstreams::demo {

namespace {

constexpr std::size_t batch_size = 250;

/// Takes the next orders, each keyed by its number.
std::vector<outgoing<order>> next_batch(order_reader& orders) {
  std::vector<outgoing<order>> batch;
  while (batch.size() < batch_size) {
    auto next = orders.next();
    if (!next)
      break;
    produce_options options;
    options.message_key = "order-" + std::to_string(next->number);
    batch.push_back({std::move(*next), std::move(options)});
  }
  return batch;
}

} // namespace

shop::shop(producer_handle<order> producer, std::filesystem::path file)
  : producer_{std::move(producer)}, file_{std::move(file)},
    thread_{[this](const std::stop_token& stop) {
      produce_all(stop);
    }} {}

shop::~shop() = default;

bool shop::finished() const {
  if (!ended_)
    return false;
  if (failure_)
    std::rethrow_exception(failure_);
  return true;
}

void shop::produce_all(const std::stop_token& stop) {
  try {
    order_reader orders{file_};
    while (!stop.stop_requested()) {
      const auto batch = next_batch(orders);
      if (batch.empty())
        break;
      produced_ += producer_.produce_batch(batch).size();
    }
  } catch (...) {
    failure_ = std::current_exception();
  }
  ended_ = true;
}

} // namespace sqlstreams::demo
