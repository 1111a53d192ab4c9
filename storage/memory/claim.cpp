#include "storage/memory/memory_session.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

claim_bound look(const memory_stream& stream, const claim_proof& before,
                 message_id position, std::size_t wanted) {
  visible_ids seen;
  seen.producers = stream.producers();
  const auto proof = settle_pending(before, seen.producers);
  const auto start = std::max(position, proof.settled_head);
  const auto covers = [&](message_id from, message_id to) {
    return static_cast<std::size_t>(to - from) >= wanted;
  };
  seen.run_end = start;
  if (!covers(position, start))
    seen.run_end = stream.run_end(start, wanted);
  seen.enough = covers(position, start) || covers(start, seen.run_end);
  seen.top = stream.top;
  return find_bound(proof, seen);
}

struct claim_end {
  message_id high = 0;
  bool full = false; ///< ended by the limit, not by the bound
};

/// Where a claim of `wanted` messages, or of `wanted_bytes`, ends: holes count
/// nothing and are passed in one step.
claim_end end_of_claim(const memory_stream& stream, message_id low,
                       message_id cap, std::size_t wanted,
                       std::size_t wanted_bytes) {
  std::size_t messages = 0;
  std::size_t bytes = 0;
  auto last = low;
  // Nothing is to be found in what retention dropped.
  auto id = std::max(low + 1, stream.first_retained);
  for (; id <= cap; ++id) {
    const auto* one = stream.find(id);
    if (!one)
      continue;
    bytes += one->payload.size();
    if (messages > 0 && wanted_bytes > 0 && bytes > wanted_bytes)
      return {last, true};
    last = id;
    if (++messages == wanted)
      return {last, true};
  }
  return {std::max(low, cap), false};
}

/// The oldest of the transactions that a claim waits for.
std::optional<claim_hold> describe_hold(const memory_stream& stream,
                                        const claim_bound& bound,
                                        timestamp now) {
  const auto& awaited = bound.proof.pending_holders;
  for (const auto& [number, open] : stream.transactions)
    if (std::find(awaited.begin(), awaited.end(), std::to_string(number))
        != awaited.end())
      return claim_hold{bound.cap + 1, static_cast<int>(number), "memory",
                        now - open.begun};
  return std::nullopt;
}

} // namespace

claim_result memory_session::claim(const claim_request& request) {
  auto& group = state_->group(request.stream, request.group);
  const auto& stream = state_->stream(request.stream);
  const auto now = state_->now();
  claim_result result;
  result.paused = group.info.config.paused;
  if (result.paused)
    return result;
  const auto bound = look(stream, group.proof, group.claimed, request.limit);
  group.proof = bound.proof;
  const auto end = end_of_claim(stream, group.claimed, bound.cap, request.limit,
                                request.limit_bytes);
  const id_range range{group.claimed, end.high};
  result.more =
    range.high < bound.cap || (end.full && stream.find(end.high + 1));
  if (bound.gap && range.high >= bound.cap)
    result.hold = describe_hold(stream, bound, now);
  if (range.empty())
    return result;

  if (range.low + 1 < stream.first_retained)
    result.behind_retention =
      id_range{range.low, std::min(range.high, stream.first_retained - 1)};
  group.claimed = range.high;
  auto messages = read_range(stream, group, range, request.schema_version);
  if (messages.empty()) { // nothing to hold a lease for: it has ended already
    advance_committed(group);
    return result;
  }
  auto token = state_->draw_token();
  group.leases[token] = {range, request.holder, later(now, request.lease), 0,
                         false};
  result.claimed =
    claimed_range{std::move(token), range, 0, std::move(messages)};
  return result;
}

read_result memory_session::read(const read_request& request) {
  const auto& stream = state_->stream(request.stream);
  const auto& from = request.position;
  const auto bound =
    look(stream, {from.settled_head, from.pending_head, from.pending_holders},
         from.after, request.limit);
  const auto end =
    end_of_claim(stream, from.after, bound.cap, request.limit, 0);
  read_result result;
  for (auto id = std::max(from.after + 1, stream.first_retained);
       id <= end.high; ++id)
    if (const auto* one = stream.find(id))
      result.messages.push_back(*one);
  result.position = {end.high, bound.proof.settled_head,
                     bound.proof.pending_head, bound.proof.pending_holders};
  return result;
}

} // namespace sqlstreams
