#pragma once
// The limit: the least that any design must do with the same rows, by plain
// libpq.

#include "apps/bench/measure/rate.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

struct pg_conn;

namespace sqlstreams::bench {

/// A connection of libpq.
class limit_connection {
public:
  /// @throws std::runtime_error
  explicit limit_connection(const std::string& url);

  /// Runs statements without results.
  /// @throws std::runtime_error
  void run(const std::string& sql);

  /// Copies lines into the limit's table, one transaction.
  /// @throws std::runtime_error
  void copy(const std::string& lines);

  /// Reads up to `page` rows above an id, in id order.
  /// @returns the number of rows; `id` is the last one's
  std::size_t read_page(std::int64_t& id, std::size_t page);

private:
  struct closer {
    void operator()(pg_conn* connection) const noexcept;
  };

  [[noreturn]] void fail(const std::string& what);

  std::unique_ptr<pg_conn, closer> connection_;
  bool prepared_ = false;
};

/// Makes the limit's table anew, empty.
void make_limit_table(const std::string& url);

/// Fills it with `count` rows.
void fill_limit_table(const std::string& url, std::size_t count);

/// Writes everything out and brings statistics up to date, so that each timed
/// part starts alike.
void settle_server(const std::string& url);

/// Copies batches with one commit each for a while.
rate limit_produce(const std::string& url, int connections, std::size_t batch,
                   std::chrono::seconds duration);

/// Reads the whole table once, page by page, on one connection.
rate limit_read(const std::string& url, std::size_t page);

} // namespace sqlstreams::bench
