#include "apps/bench/measure/limit.hpp"

#include "apps/bench/measure/payload.hpp"

#include <libpq-fe.h>

#include <cstdlib>
#include <future>
#include <stdexcept>
#include <vector>

namespace sqlstreams::bench {

namespace {

using std::chrono::steady_clock;
using result = std::unique_ptr<PGresult, decltype(&PQclear)>;

/// Batches a producer goes through again and again: made beforehand, so that
/// the server and the wire are what is measured.
constexpr int ready_batches = 8;

std::vector<std::string> ready_lines(int producer, std::size_t batch) {
  std::vector<std::string> lines;
  for (int i = 0; i < ready_batches; ++i)
    lines.push_back(
      copy_lines((producer * ready_batches + i) * std::int64_t(batch), batch));
  return lines;
}

std::int64_t copy_until(steady_clock::time_point end, limit_connection& to,
                        const std::vector<std::string>& lines,
                        std::size_t batch) {
  std::int64_t rows = 0;
  for (std::size_t i = 0; steady_clock::now() < end; ++i) {
    to.copy(lines[i % lines.size()]);
    rows += static_cast<std::int64_t>(batch);
  }
  return rows;
}

} // namespace

limit_connection::limit_connection(const std::string& url)
  : connection_{PQconnectdb(url.c_str())} {
  if (PQstatus(connection_.get()) != CONNECTION_OK)
    fail("connect");
  run("SET client_min_messages = warning");
}

void limit_connection::closer::operator()(pg_conn* connection) const noexcept {
  PQfinish(connection);
}

void limit_connection::fail(const std::string& what) {
  throw std::runtime_error(what + ": " + PQerrorMessage(connection_.get()));
}

void limit_connection::run(const std::string& sql) {
  const result done{PQexec(connection_.get(), sql.c_str()), &PQclear};
  const auto status = PQresultStatus(done.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
    fail(sql);
}

void limit_connection::copy(const std::string& lines) {
  auto* connection = connection_.get();
  const result begun{
    PQexec(connection, "COPY limit_message (key, payload) FROM STDIN"),
    &PQclear};
  if (PQresultStatus(begun.get()) != PGRES_COPY_IN
      || PQputCopyData(connection, lines.data(), static_cast<int>(lines.size()))
           != 1
      || PQputCopyEnd(connection, nullptr) != 1)
    fail("COPY");
  while (const auto ended = result{PQgetResult(connection), &PQclear})
    if (PQresultStatus(ended.get()) != PGRES_COMMAND_OK)
      fail("COPY");
}

std::size_t limit_connection::read_page(std::int64_t& id, std::size_t page) {
  auto* connection = connection_.get();
  if (!prepared_) {
    const auto sql = "SELECT id, key, payload, created_at FROM limit_message "
                     "WHERE id > $1 ORDER BY id LIMIT "
                     + std::to_string(page);
    const result done{PQprepare(connection, "page", sql.c_str(), 0, nullptr),
                      &PQclear};
    if (PQresultStatus(done.get()) != PGRES_COMMAND_OK)
      fail("prepare");
    prepared_ = true;
  }
  const auto after = std::to_string(id);
  const char* values[] = {after.c_str()};
  const result rows{
    PQexecPrepared(connection, "page", 1, values, nullptr, nullptr, 0),
    &PQclear};
  if (PQresultStatus(rows.get()) != PGRES_TUPLES_OK)
    fail("read");
  const int count = PQntuples(rows.get());
  if (count > 0)
    id = std::atoll(PQgetvalue(rows.get(), count - 1, 0));
  return static_cast<std::size_t>(count);
}

void make_limit_table(const std::string& url) {
  limit_connection{url}.run(
    "DROP TABLE IF EXISTS limit_message;"
    "CREATE TABLE limit_message (id bigserial PRIMARY KEY, key text,"
    " payload jsonb, created_at timestamptz NOT NULL DEFAULT now())");
}

void fill_limit_table(const std::string& url, std::size_t count) {
  make_limit_table(url);
  limit_connection to{url};
  constexpr std::size_t step = 1000;
  for (std::size_t done = 0; done < count; done += step)
    to.copy(copy_lines(static_cast<std::int64_t>(done),
                       std::min(step, count - done)));
}

void settle_server(const std::string& url) {
  limit_connection to{url};
  to.run("VACUUM ANALYZE");
  to.run("CHECKPOINT");
}

rate limit_produce(const std::string& url, int connections, std::size_t batch,
                   std::chrono::seconds duration) {
  std::vector<std::unique_ptr<limit_connection>> open;
  std::vector<std::vector<std::string>> lines;
  for (int i = 0; i < connections; ++i) {
    open.push_back(std::make_unique<limit_connection>(url));
    lines.push_back(ready_lines(i, batch));
  }
  const auto start = steady_clock::now();
  std::vector<std::future<std::int64_t>> running;
  for (std::size_t i = 0; i < open.size(); ++i)
    running.push_back(std::async(std::launch::async, [&, i] {
      return copy_until(start + duration, *open[i], lines[i], batch);
    }));
  rate measured;
  for (auto& one : running)
    measured.messages += one.get();
  measured.took = steady_clock::now() - start;
  return measured;
}

rate limit_read(const std::string& url, std::size_t page) {
  limit_connection from{url};
  const auto start = steady_clock::now();
  rate measured;
  std::int64_t id = 0;
  std::size_t rows = page;
  while (rows == page) {
    rows = from.read_page(id, page);
    measured.messages += static_cast<std::int64_t>(rows);
  }
  measured.took = steady_clock::now() - start;
  return measured;
}

} // namespace sqlstreams::bench
