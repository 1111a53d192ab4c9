#include "actors/batcher.hpp"

#include <algorithm>
#include <cassert>
#include <iterator>

namespace sqlstreams {

namespace {

std::size_t payload_bytes(const produce_call& call) {
  std::size_t bytes = 0;
  for (const auto& message : call.messages)
    bytes += message.payload.size();
  return bytes;
}

produce_batch as_batch(std::vector<produce_call> calls) {
  produce_batch batch;
  std::vector<new_message> messages;
  if (calls.size() == 1) {
    messages = std::move(calls.front().messages);
    batch.parts.push_back({calls.front().number, 0, messages.size()});
  } else {
    for (auto& call : calls) {
      batch.parts.push_back(
        {call.number, messages.size(), call.messages.size()});
      std::move(call.messages.begin(), call.messages.end(),
                std::back_inserter(messages));
    }
  }
  batch.messages =
    std::make_shared<const std::vector<new_message>>(std::move(messages));
  return batch;
}

std::vector<std::uint64_t>
calls_of(const std::vector<produce_batch::part>& parts) {
  std::vector<std::uint64_t> calls;
  for (const auto& part : parts)
    calls.push_back(part.call);
  return calls;
}

/// Whether a failure proves that nothing was done, and may be the fault of some
/// calls and not of others. Only the database's refusal of a statement is both.
bool is_refusal(const error& failure) {
  return failure.number() == code::database_error
         && failure.recover() == recovery::permanent;
}

} // namespace

bool batcher::add(produce_call&& call) {
  if (waiting_.size() >= limits_.max_waiting)
    return false;
  waiting_.push_back(std::move(call));
  return true;
}

std::optional<produce_batch> batcher::next() {
  if (in_flight_ >= limits_.transactions)
    return std::nullopt;
  if (!again_.empty()) {
    auto batch = std::move(again_.front());
    again_.pop_front();
    ++in_flight_;
    return batch;
  }
  if (waiting_.empty())
    return std::nullopt;
  ++in_flight_;
  return as_batch(gather());
}

std::vector<produce_call> batcher::gather() {
  std::vector<produce_call> calls;
  std::size_t messages = 0;
  std::size_t bytes = 0;
  while (!waiting_.empty()) {
    auto& call = waiting_.front();
    const auto call_bytes = payload_bytes(call);
    const bool fits = messages + call.messages.size() <= limits_.max_size
                      && bytes + call_bytes <= limits_.max_bytes;
    if (!calls.empty() && (call.alone || !fits))
      break;
    messages += call.messages.size();
    bytes += call_bytes;
    const bool alone = call.alone;
    calls.push_back(std::move(call));
    waiting_.pop_front();
    if (alone)
      break;
  }
  return calls;
}

void batcher::succeeded() {
  assert(in_flight_ > 0);
  --in_flight_;
}

std::vector<std::uint64_t> batcher::failed(const produce_batch& batch,
                                           const error& failure,
                                           std::optional<std::size_t> refused) {
  assert(in_flight_ > 0);
  --in_flight_;
  auto rest = batch.parts;
  if (!is_refusal(failure) || rest.size() == 1)
    return calls_of(rest);
  if (refused) {
    const auto at_fault =
      std::find_if(rest.begin(), rest.end(), [&](const auto& part) {
        return *refused >= part.first && *refused < part.first + part.count;
      });
    if (at_fault != rest.end()) {
      const auto call = at_fault->call;
      rest.erase(at_fault);
      run_again(batch, rest);
      return {call};
    }
  }
  const auto middle =
    rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2);
  run_again(batch, {middle, rest.end()});
  run_again(batch, {rest.begin(), middle});
  return {};
}

void batcher::run_again(const produce_batch& batch,
                        const std::vector<produce_batch::part>& parts) {
  std::vector<produce_call> calls;
  for (const auto& part : parts) {
    const auto first =
      batch.messages->begin() + static_cast<std::ptrdiff_t>(part.first);
    calls.push_back(
      {part.call, {first, first + static_cast<std::ptrdiff_t>(part.count)}});
  }
  again_.push_front(as_batch(std::move(calls)));
}

std::vector<std::uint64_t> batcher::drop_waiting() {
  std::vector<std::uint64_t> calls;
  for (const auto& batch : again_)
    for (const auto& part : batch.parts)
      calls.push_back(part.call);
  for (const auto& call : waiting_)
    calls.push_back(call.number);
  again_.clear();
  waiting_.clear();
  return calls;
}

} // namespace sqlstreams
