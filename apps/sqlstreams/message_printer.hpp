#pragma once

#include "actors/delivery.hpp"
#include "actors/outcome.hpp"
#include "apps/sqlstreams/context.hpp"

#include <functional>
#include <mutex>
#include <string>

namespace sqlstreams {

/// Returns a stored message as one line: without `run` as it was read, with it
/// as it was delivered. The payload is embedded as it is stored; bytes with a
/// content type appear in base64 in JSON, and by their size in text.
std::string message_text(const message& what, const std::string& stream,
                         const delivery* run, output_format format);

/// The default handler of `consume`: prints each message, whole and at once,
/// before it counts as handled. Thread-safe.
class message_printer {
public:
  /// @param on_closed called once, when standard output cannot be written any
  ///   more: no message counts as handled from then on
  message_printer(output_format format, std::function<void()> on_closed);

  outcome operator()(const delivery& run);

  /// Whether standard output could not be written.
  [[nodiscard]] bool closed() const;

private:
  output_format format_;
  std::function<void()> on_closed_;
  mutable std::mutex mutex_;
  bool closed_ = false;
};

} // namespace sqlstreams
