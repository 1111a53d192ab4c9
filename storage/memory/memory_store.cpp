#include "storage/memory/memory_store.hpp"

#include "storage/memory/memory_session.hpp"

namespace sqlstreams {

memory_transaction::memory_transaction(std::shared_ptr<memory_state> state,
                                       stream_id stream)
  : state_{std::move(state)}, stream_{stream}, number_{
                                                 ++state_->last_transaction} {
  state_->stream(stream_).transactions[number_].begun = state_->now();
}

memory_transaction::~memory_transaction() { rollback(); }

std::vector<produced>
memory_transaction::produce(const std::vector<new_message>& messages) {
  return draw(*state_, state_->stream(stream_), number_, messages);
}

void memory_transaction::commit() {
  finish(state_->stream(stream_), number_, true);
}

void memory_transaction::rollback() {
  finish(state_->stream(stream_), number_, false);
}

memory_database::memory_database(clock now, std::uint64_t seed)
  : state_{std::make_shared<memory_state>()} {
  state_->now = std::move(now);
  state_->random.seed(seed);
}

memory_database::~memory_database() = default;

std::unique_ptr<store> memory_database::open() {
  return std::make_unique<memory_session>(state_);
}

std::unique_ptr<memory_transaction> memory_database::begin(stream_id stream) {
  return std::make_unique<memory_transaction>(state_, stream);
}

void memory_database::drop_messages(stream_id stream, message_id last) {
  drop(state_->stream(stream), last);
}

} // namespace sqlstreams
