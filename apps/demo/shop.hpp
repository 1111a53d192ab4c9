#pragma once

#include "actors/client.hpp"
#include "apps/demo/order.hpp"

#include <atomic>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <thread>

namespace sqlstreams::demo {

/// Produces the orders of a file on a thread of its own, in batches.
class shop {
public:
  /// Starts to produce.
  shop(producer_handle<order> producer, std::filesystem::path file);

  /// Stops after the batch that is on its way.
  ~shop();
  shop(const shop&) = delete;
  shop& operator=(const shop&) = delete;

  /// Orders that are stored.
  [[nodiscard]] std::size_t produced() const noexcept { return produced_; }

  /// Whether all are.
  /// @throws what ended the producing
  [[nodiscard]] bool finished() const;

private:
  void produce_all(const std::stop_token& stop);

  producer_handle<order> producer_;
  std::filesystem::path file_;
  std::atomic<std::size_t> produced_ = 0;
  std::atomic<bool> ended_ = false;
  std::exception_ptr failure_{}; ///< written before `ended_`
  std::jthread thread_;
};

} // namespace sqlstreams::demo
