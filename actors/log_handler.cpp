#include "actors/log_handler.hpp"

#include "actors/message_json.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>

namespace sqlstreams {

message_handler make_log_handler() {
  const auto mutex = std::make_shared<std::mutex>();
  return [mutex](delivery& run) {
    const auto line = message_json(run.message, run.stream, &run) + '\n';
    const std::lock_guard lock{*mutex};
    if (std::fwrite(line.data(), 1, line.size(), stdout) != line.size()
        || std::fflush(stdout) != 0)
      return retry(std::string{"cannot write to standard output: "}
                   + std::strerror(errno));
    return done();
  };
}

} // namespace sqlstreams
