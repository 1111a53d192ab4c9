#pragma once

#include "storage/postgres/postgres_store.hpp"
#include "storage/store.hpp"
#include "tests/support/test_database.hpp"

#include <pqxx/connection>
#include <pqxx/nontransaction>
#include <pqxx/result>

#include <memory>
#include <string>
#include <vector>

namespace sqlstreams::test {

/// A hand on the database: statements one by one, no transaction of its own.
class hand {
public:
  hand(const std::string& url, std::string schema, stream_id stream);

  /// Runs SQL after filling in {schema} and {stream}.
  pqxx::result operator()(const std::string& sql);

  /// Returns the first column of the first row.
  std::string ask(const std::string& sql);

  [[nodiscard]] int backend() const { return connection_.backendpid(); }

private:
  pqxx::connection connection_;
  pqxx::nontransaction transaction_;
  std::string schema_;
  stream_id stream_;
};

/// A PostgreSQL installation of one test, with stream `orders` and group
/// `billing`.
class postgres_installation {
public:
  explicit postgres_installation(stream_config config = {},
                                 std::string url = database_url());

  [[nodiscard]] std::unique_ptr<store> open() const { return factory_->open(); }
  /// Opens a session by another address of the same database.
  [[nodiscard]] std::unique_ptr<store> open(const std::string& url) const;

  [[nodiscard]] hand connect() const;

  [[nodiscard]] const std::string& schema() const { return schema_.name(); }

  [[nodiscard]] claim_result claim(store& by, std::size_t limit = 100) const;
  [[nodiscard]] claim_result claim() const { return claim(*session); }

  /// Claims until nothing more comes at once; returns the ids, in order.
  [[nodiscard]] std::vector<message_id> claim_ids() const;

  std::vector<message_id> produce(int count) const;

private:
  std::string url_;
  fresh_schema schema_;
  std::shared_ptr<store_factory> factory_;

public:
  std::unique_ptr<store> session;
  stream_info stream;
  group_info group;
};

/// Messages with payload {"n": 1} and so on.
std::vector<new_message> numbered_messages(int count);

std::vector<message_id> ids_of(const std::vector<produced>& all);

} // namespace sqlstreams::test
