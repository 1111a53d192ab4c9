#pragma once

#include "actors/raw_stream.hpp"
#include "apps/sqlstreams/line_source.hpp"
#include "config/error.hpp"
#include "storage/message.hpp"
#include "storage/message_checks.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams {

/// How lines become messages.
struct line_options {
  new_message model{}; ///< what all messages have in common
  message_limits limits{};
  std::string key_field{};         ///< message key from this field; empty: none
  std::string routing_key_field{}; ///< likewise
  std::size_t batch = 500;         ///< messages a transaction, at most
  bool skip_invalid = false;       ///< report and go on instead of stopping
};

/// What became of the lines so far.
struct line_counts {
  std::uint64_t produced = 0; ///< duplicates included
  std::uint64_t duplicates = 0;
  std::uint64_t refused = 0; ///< reported and passed over
  message_id first = 0;      ///< 0: none was produced
  message_id last = 0;
};

/// Produces the lines of an input, in order, a batch at a time.
class line_producer {
public:
  /// Stores a batch as one transaction.
  using send = std::function<std::vector<produced>(std::vector<new_message>)>;
  /// Is told of each stored batch, in input order; false: stop.
  using stored = std::function<bool(const std::vector<produced>&)>;
  /// Is told of each refused line.
  using refused = std::function<void(const error&)>;

  line_producer(line_options options, send send_batch, stored on_stored,
                refused on_refused);

  /// Reads to the end.
  /// @returns false if `on_stored` said so
  /// @throws error naming the line and how many messages before it were
  ///   produced
  bool run(line_source& lines);

  [[nodiscard]] const line_counts& counts() const noexcept { return counts_; }

private:
  struct numbered {
    std::uint64_t line;
    new_message message;
  };

  void add(line_source::line line);
  [[nodiscard]] bool full() const;
  std::optional<error> take_keys(new_message& message) const;
  void flush();
  void send_part(const numbered* begin, const numbered* end);
  void refuse(std::uint64_t line, const error& why);
  [[noreturn]] void fail(std::uint64_t line, const error& why);

  line_options options_;
  send send_;
  stored stored_;
  refused refused_;
  std::vector<numbered> batch_;
  std::size_t batch_bytes_ = 0; ///< of its payloads
  line_counts counts_;
  bool stopped_ = false;
};

} // namespace sqlstreams
