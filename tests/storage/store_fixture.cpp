#include "tests/storage/store_fixture.hpp"

#include <utility>

namespace sqlstreams::test {

namespace {

class memory_producer : public slow_producer {
public:
  explicit memory_producer(std::unique_ptr<memory_transaction> transaction)
    : transaction_{std::move(transaction)} {}

  std::vector<produced>
  produce(const std::vector<new_message>& messages) override {
    return transaction_->produce(messages);
  }
  void commit() override { transaction_->commit(); }
  void rollback() override { transaction_->rollback(); }

private:
  std::unique_ptr<memory_transaction> transaction_;
};

timestamp some_day() { return timestamp{std::chrono::hours{24 * 365 * 50}}; }

} // namespace

store_fixture::store_fixture(std::unique_ptr<sqlstreams::store> session)
  : session_{std::move(session)}, store{*session_} {
  store.register_system();
  stream = add_stream("orders");
  use_group("billing");
}

stream_info store_fixture::add_stream(const std::string& name,
                                      stream_config config) {
  return store.register_stream({name, config, "test"}).stream;
}

group_registration store_fixture::use_group(const std::string& name,
                                            consumer_config config) {
  auto answer =
    store.register_group({stream.id, name, std::move(config), "test"});
  group = answer.group;
  return answer;
}

std::vector<produced>
store_fixture::produce(const std::vector<new_message>& messages) {
  return store.produce(stream.id, messages);
}

std::vector<produced> store_fixture::produce(std::size_t count) {
  return produce(messages(count));
}

claim_result store_fixture::claim(std::size_t limit,
                                  std::chrono::nanoseconds lease) {
  claim_request request;
  request.stream = stream.id;
  request.group = group.id;
  request.schema_version = schema_version;
  request.limit = limit;
  request.lease = lease;
  request.holder = "a";
  return store.claim(request);
}

reclaim_result store_fixture::reclaim(std::chrono::nanoseconds lease) {
  reclaim_request request;
  request.stream = stream.id;
  request.group = group.id;
  request.schema_version = schema_version;
  request.limit = 100;
  request.lease = lease;
  request.holder = "b";
  return store.reclaim(request);
}

settle_result store_fixture::settle(range_settlement range) {
  return store.settle({stream.id, group.id, history, {std::move(range)}, {}});
}

settle_result store_fixture::settle(exception_settlement run) {
  return store.settle({stream.id, group.id, history, {}, {std::move(run)}});
}

settle_result store_fixture::finish(const claimed_range& range,
                                    std::vector<exception_entry> exceptions) {
  range_settlement all;
  all.token = range.token;
  all.resolved_to = range.range.high;
  all.exceptions = std::move(exceptions);
  return settle(std::move(all));
}

exception_claim_result store_fixture::claim_exceptions(
  std::size_t limit, std::chrono::nanoseconds lease, budget_bounds budget) {
  return store.claim_exceptions(
    {stream.id, group.id, schema_version, limit, lease, "a", budget, history});
}

std::vector<message_id> store_fixture::kill_exhausted(budget_bounds budget) {
  return store.kill_exhausted({stream.id, group.id, budget, 100, history})
    .killed;
}

std::vector<exception_row> store_fixture::exceptions() {
  return store.list_exceptions({stream.id, group.id, {}, 0, 100});
}

group_lag store_fixture::lag() { return store.lag(stream.id, group.id); }

std::string store_fixture::history_of(message_id id) {
  return as_text(store.history(stream.id, group.id, id));
}

memory_place::memory_place()
  : now_{some_day()}, database_{[this] {
      return now_ += std::chrono::microseconds{1};
    }} {}

memory_fixture::memory_fixture() : store_fixture{database_.open()} {}

std::unique_ptr<sqlstreams::store> memory_fixture::another_session() {
  return database_.open();
}

std::unique_ptr<sqlstreams::store> memory_fixture::empty_place() {
  return memory_database{some_day}.open();
}

std::unique_ptr<slow_producer> memory_fixture::open_producer() {
  return std::make_unique<memory_producer>(database_.begin(stream.id));
}

message_id memory_fixture::drop_partitions(const stream_info& of,
                                           message_id id) {
  const auto size = of.config.with_defaults().partition_size;
  const auto last = ((id - 1) / size + 1) * size;
  database_.drop_messages(of.id, last);
  return last;
}

} // namespace sqlstreams::test
