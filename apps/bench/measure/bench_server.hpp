#pragma once

#include "apps/dev_server/private_server.hpp"
#include "apps/dev_server/work_folder.hpp"

#include <string>

namespace sqlstreams::bench {

/// A private server for measuring: durable as it ships (fsync, synchronous
/// commit and full-page writes on), with enough memory for what is measured.
/// Lives in the program's build tree; gone after destruction.
class bench_server {
public:
  /// @throws error server_binaries_missing, server_not_started
  bench_server();
  ~bench_server();
  bench_server(const bench_server&) = delete;
  bench_server& operator=(const bench_server&) = delete;

  [[nodiscard]] std::string url() const { return server_.url(); }

private:
  work_folder work_{"bench"};
  private_server server_;
};

} // namespace sqlstreams::bench
