#include "storage/memory/memory_session.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

message stored_form(const new_message& given, message_id id, timestamp now) {
  return {id,
          given.schema_version,
          given.routing_key,
          given.message_key,
          given.payload,
          given.content_type,
          given.headers,
          given.options,
          now,
          {}};
}

/// Takes an idempotency key for a message.
/// @returns the id of the message that the key stands for
message_id take_key(memory_stream& stream, open_transaction& transaction,
                    const std::string& key, message_id id) {
  const auto [known, is_new] = stream.idempotency_keys.try_emplace(key, id);
  if (is_new)
    transaction.keys.push_back(key);
  return known->second;
}

} // namespace

std::vector<produced> draw(memory_state& state, memory_stream& stream,
                           std::uint64_t number,
                           const std::vector<new_message>& messages) {
  auto& transaction = stream.transactions.at(number);
  const auto now = state.now();
  std::vector<produced> answers;
  answers.reserve(messages.size());
  for (const auto& one : messages) {
    const auto id = stream.drawn() + 1;
    // As a sequence does: a duplicate uses up an id too.
    auto& slot = stream.log.emplace_back();
    const auto& key = one.idempotency_key;
    const auto stands_for =
      key.empty() ? id : take_key(stream, transaction, key, id);
    answers.push_back({stands_for, stands_for != id});
    if (stands_for != id)
      continue;
    slot.message = stored_form(one, id, now);
    transaction.ids.push_back(id);
  }
  return answers;
}

void finish(memory_stream& stream, std::uint64_t number, bool commit) {
  auto ended = stream.transactions.extract(number);
  if (ended.empty())
    return;
  for (const auto id : ended.mapped().ids) {
    auto* slot = stream.slot(id);
    if (!slot)
      continue;
    slot->visible = commit;
    if (commit)
      stream.top = std::max(stream.top, id);
    else
      slot->message = {};
  }
  if (!commit)
    for (const auto& key : ended.mapped().keys)
      stream.idempotency_keys.erase(key);
}

void drop(memory_stream& stream, message_id last) {
  while (!stream.log.empty() && stream.first_retained <= last) {
    stream.log.pop_front();
    ++stream.first_retained;
  }
  if (stream.top < stream.first_retained)
    stream.top = 0;
}

std::vector<produced>
memory_session::produce(stream_id stream,
                        const std::vector<new_message>& messages) {
  memory_transaction transaction{state_, stream};
  auto answers = transaction.produce(messages);
  transaction.commit();
  return answers;
}

} // namespace sqlstreams
