// Messages and the application's own rows in one transaction: both or neither.
//
//   export SQLSTREAMS_DATABASE_URL=$(sqlstreams dev url)
//   example_transactional
#include "apps/examples/environment.hpp"

#include <sqlstreams/client.hpp>

#include <pqxx/transaction_base>

#include <iostream>
#include <stdexcept>
#include <string>

struct order_placed {
  static constexpr int schema_version = 1;
  std::string order_id;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(order_placed, order_id)

void insert_order(pqxx::transaction_base& tx, const std::string& id) {
  tx.exec_params0("INSERT INTO example_order (id) VALUES ($1)", id);
}

long count_orders(const sqlstreams::client& client) {
  long count = 0;
  client.transaction([&](pqxx::transaction_base& tx) {
    count = tx.exec1("SELECT count(*) FROM example_order")[0].as<long>();
  });
  return count;
}

int run() {
  sqlstreams::client client{
    {.url = from_environment("SQLSTREAMS_DATABASE_URL"),
     .schema = from_environment("SQLSTREAMS_SCHEMA", "sqlstreams")}};
  auto placed = client.stream<order_placed>("orders.placed");
  placed.register_stream();
  auto producer = placed.register_producer();

  // Runs again after a deadlock or a lost connection: keep the work repeatable.
  client.transaction([](pqxx::transaction_base& tx) {
    tx.exec0("DROP TABLE IF EXISTS example_order");
    tx.exec0("CREATE TABLE example_order (id text PRIMARY KEY)");
  });

  // 1. The shortest form: some work, and one message with it.
  const auto first =
    producer.produce_with({"order-1"}, [](pqxx::transaction_base& tx) {
      insert_order(tx, "order-1");
    });
  std::cout << "order-1 and message " << first.id << " were stored together\n";

  // 2. Several messages anywhere in a transaction that the client runs. Until
  // it commits, the stream's consumers wait at these messages: produce last.
  client.transaction([&](pqxx::transaction_base& tx) {
    insert_order(tx, "order-2");
    insert_order(tx, "order-3");
    producer.produce_in_tx(tx, {"order-2"});
    producer.produce_in_tx(tx, {"order-3"});
  });
  std::cout << "order-2 and order-3 were stored with their messages\n";

  // 3. What fails leaves nothing behind, neither row nor message.
  try {
    client.transaction([&](pqxx::transaction_base& tx) {
      insert_order(tx, "order-4");
      producer.produce_in_tx(tx, {"order-4"});
      throw std::runtime_error("the customer changed his mind");
    });
  } catch (const std::runtime_error& why) {
    std::cout << "order-4 was rolled back: " << why.what() << '\n';
  }

  const auto messages = placed.read({.after = first.id - 1}).messages.size();
  std::cout << "done: " << count_orders(client) << " orders, " << messages
            << " messages\n";
  client.transaction(
    [](pqxx::transaction_base& tx) { tx.exec0("DROP TABLE example_order"); });
  return 0;
}

int main() {
  try {
    return run();
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
