// Callbacks: the shortest way from a type to a stream that is handled.
//
//   export SQLSTREAMS_DATABASE_URL=$(sqlstreams dev url)
//   example_quickstart
#include "apps/examples/environment.hpp"

#include <sqlstreams/client.hpp>

#include <iostream>
#include <string>
#include <thread>

using namespace std::chrono_literals;

/// The payload: any type that nlohmann-json can write and read.
struct payment_requested {
  static constexpr int schema_version = 1; // raised on each breaking change
  std::string order_id;
  long amount_cents = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(payment_requested, order_id, amount_cents)

int run() {
  // Connects now: a wrong address fails here.
  sqlstreams::client client{
    {.url = from_environment("SQLSTREAMS_DATABASE_URL"),
     .schema = from_environment("SQLSTREAMS_SCHEMA", "sqlstreams")}};

  // A handle does no I/O. Declaring a stream again changes what differs.
  auto payments = client.stream<payment_requested>("payments.requested");
  payments.register_stream({.retention = 30 * 24h});

  // The idempotency key makes it safe to produce again after a doubt.
  auto producer = payments.register_producer();
  for (const std::string id : {"order-1", "order-2", "order-2", "order-3"}) {
    const auto stored = producer.produce({id, 1999}, {.idempotency_key = id});
    std::cout << "produced " << id << " as message " << stored.id
              << (stored.duplicate ? ", which was there already\n" : "\n");
  }

  // Every group sees every message. Where it stands is in the database, so any
  // number of processes can share its work.
  auto charge_cards = payments.consumer("charge-cards")
                        .register_group({.message = {.timeout = 10s}});
  auto running = charge_cards.start(
    [](const payment_requested& payment, sqlstreams::delivery& delivery) {
      std::cout << "charging " + payment.order_id + ", message "
                     + std::to_string(delivery.message.id) + ", attempt "
                     + std::to_string(delivery.attempt) + "\n";
      return sqlstreams::done(); // or retry("why"), dead("why"), delay(5min)
    },
    {.message_concurrency = 8});

  // A service would instead run until SIGTERM:
  //   charge_cards.consume(handler, options, sqlstreams::stop_on_signals());
  // This one ends when all have been handled, or are dead because they are no
  // payments.
  const auto group = payments.consumer("charge-cards");
  while (!running.ended() && group.lag().backlog > 0)
    std::this_thread::sleep_for(50ms);
  running.stop();
  const auto totals = running.wait();
  std::cout << "done: " << totals.success << " payments charged\n";
  return 0;
}

int main() {
  try {
    return run();
  } catch (const sqlstreams::error& failure) {
    std::cerr << failure.what() << '\n'; // code, what happened, the fix
    return 1;
  }
}
