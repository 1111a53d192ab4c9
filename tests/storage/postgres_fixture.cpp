#include "storage/postgres/postgres_store.hpp"
#include "storage/postgres/produce_in_tx.hpp"
#include "tests/storage/store_fixture.hpp"

#include <pqxx/pqxx>

#include <optional>

namespace sqlstreams::test {

namespace {

class postgres_producer : public slow_producer {
public:
  postgres_producer(std::string schema, stream_id stream)
    : connection_{database_url()}, transaction_{std::in_place, connection_},
      schema_{std::move(schema)}, stream_{stream} {}

  std::vector<produced>
  produce(const std::vector<new_message>& messages) override {
    return produce_in_tx(*transaction_, schema_, stream_, messages);
  }
  void commit() override {
    transaction_->commit();
    transaction_.reset();
  }
  void rollback() override { transaction_.reset(); }

private:
  pqxx::connection connection_;
  std::optional<pqxx::work> transaction_;
  std::string schema_;
  stream_id stream_;
};

} // namespace

postgres_place::postgres_place()
  : factory_{make_postgres_factory({database_url(), schema_.name()})} {}

postgres_fixture::postgres_fixture() : store_fixture{factory_->open()} {}

std::unique_ptr<sqlstreams::store> postgres_fixture::another_session() {
  return factory_->open();
}

std::unique_ptr<sqlstreams::store> postgres_fixture::empty_place() {
  return make_postgres_factory({database_url(), empty_schema_.name()})->open();
}

std::unique_ptr<slow_producer> postgres_fixture::open_producer() {
  return std::make_unique<postgres_producer>(schema_.name(), stream.id);
}

message_id postgres_fixture::drop_partitions(const stream_info& of,
                                             message_id id) {
  const auto number = (id - 1) / of.config.with_defaults().partition_size;
  pqxx::connection connection{database_url()};
  pqxx::work transaction{connection};
  // Not all need be there: ids that a healed batch left unused may have none.
  for (std::int64_t i = 0; i <= number; ++i)
    transaction.exec(
      "DROP TABLE IF EXISTS " + transaction.quote_name(schema_.name()) + "."
      + transaction.quote_name("message_log_" + std::to_string(of.id) + "_p"
                               + std::to_string(i)));
  transaction.commit();
  return (number + 1) * of.config.with_defaults().partition_size;
}

} // namespace sqlstreams::test
