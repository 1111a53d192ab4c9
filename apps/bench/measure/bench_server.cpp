#include "apps/bench/measure/bench_server.hpp"

#include <exception>
#include <filesystem>
#include <iostream>

namespace sqlstreams::bench {

namespace {

private_server_options settings(const std::filesystem::path& work) {
  private_server_options options;
  options.folder = server_folder(work);
  options.settings = {"shared_buffers=1GB", "max_wal_size=4GB", "jit=off"};
  return options;
}

} // namespace

bench_server::bench_server() : server_{settings(work_.path())} {
  server_.start();
}

bench_server::~bench_server() {
  try {
    server_.destroy();
  } catch (const std::exception& e) {
    std::cerr << "bench: the server is left behind: " << e.what() << '\n';
  }
}

} // namespace sqlstreams::bench
