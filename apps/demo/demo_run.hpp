#pragma once

#include <cstdint>
#include <string>

namespace sqlstreams::demo {

struct demo_options {
  std::int64_t messages = 20'000;
  int consumers = 3;
  bool kill = true;       ///< ends one consumer half-way by SIGKILL
  bool keep = false;      ///< leaves server, files and logs in place
  std::uint32_t seed = 7; ///< of the orders
  std::string url{}; ///< of a server that is there already; empty: start one
};

/// Produces an order file, has it handled by consumer processes, and accounts
/// for every order. Prints as it goes.
/// @returns the exit status: 0 if nothing is lost, nothing made up, and the
///   work of the killed consumer was taken over; 1 if not; 128 + n if signal n
///   ended the run
/// @throws error what made the run impossible
int run_demo(const demo_options& options);

} // namespace sqlstreams::demo
