#include "tests/storage/random_consumer.hpp"

#include "config/attempts.hpp"
#include "tests/support/builders.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace sqlstreams::test {

namespace {

using namespace std::chrono_literals;

constexpr int allowed_retries = 2;
constexpr budget_bounds budget{.max_retries = allowed_retries};

/// A short lease runs out while its holder does other things.
std::chrono::nanoseconds lease(bool may_vanish) {
  return may_vanish ? std::chrono::nanoseconds{5ms} : 1h;
}

/// Swaps the element to the end and takes it out.
template <class T>
T take_out(std::vector<T>& from, std::size_t place) {
  std::swap(from[place], from.back());
  T taken = std::move(from.back());
  from.pop_back();
  return taken;
}

} // namespace

random_consumer::random_consumer(const postgres_installation& system,
                                 unsigned seed)
  : random_{seed}, system_{system}, session_{system.open()},
    hand_{system.connect()} {}

void random_consumer::step() {
  switch (pick(16)) {
  case 0:
  case 1:
  case 2:
  case 3: return claim();
  case 4: return reclaim();
  case 5:
  case 6: return claim_exceptions();
  case 7:
  case 8:
  case 9: return end_run();
  case 10: return kill();
  case 11: return look();
  default: return end_range();
  }
}

void random_consumer::claim() {
  const bool may_vanish = pick(2) == 0;
  const auto result = session_->claim({.stream = system_.stream.id,
                                       .group = system_.group.id,
                                       .limit = 1 + pick(60),
                                       .lease = lease(may_vanish),
                                       .holder = "random"});
  if (result.claimed)
    take(*result.claimed, may_vanish);
}

void random_consumer::reclaim() {
  const bool may_vanish = pick(3) == 0;
  const auto result =
    session_->reclaim({.stream = system_.stream.id,
                       .group = system_.group.id,
                       .limit = 1 + pick(5),
                       .max_range_reclaims = static_cast<int>(1 + pick(2)),
                       .lease = lease(may_vanish),
                       .holder = "random"});
  for (const auto& one : result.reclaimed)
    take(one.claimed, may_vanish);
}

void random_consumer::take(const claimed_range& claimed, bool may_vanish) {
  held_range held{claimed.token, claimed.range, ids_of(claimed.messages),
                  may_vanish};
  delivered_.insert(delivered_.end(), held.ids.begin(), held.ids.end());
  ranges_.push_back(std::move(held));
}

void random_consumer::claim_exceptions() {
  const bool may_vanish = pick(3) == 0;
  const auto result = session_->claim_exceptions({.stream = system_.stream.id,
                                                  .group = system_.group.id,
                                                  .limit = 1 + pick(20),
                                                  .lease = lease(may_vanish),
                                                  .holder = "random",
                                                  .budget = budget});
  for (const auto& run : result.claimed) {
    delivered_.push_back(run.message.id);
    runs_.push_back({run, may_vanish});
  }
}

void random_consumer::end_range() {
  if (ranges_.empty())
    return claim();
  auto held = take_out(ranges_, pick(static_cast<unsigned>(ranges_.size())));
  switch (pick(8)) {
  case 0:
  case 1: // vanishes, as far as the database can see
    if (held.may_vanish)
      return;
    return finish_range(held, true);
  case 2:
  case 3: return resolve_part(held, unresolved_rest::kept);
  case 4: return resolve_part(held, unresolved_rest::surrendered);
  case 5: return finish_range(held, false);
  default: return finish_range(held, true);
  }
}

void random_consumer::finish_range(held_range& held, bool with_failures) {
  range_settlement part;
  part.token = held.token;
  part.resolved_to = held.range.high;
  std::vector<message_id> done;
  for (const auto id : held.ids) {
    if (with_failures && pick(4) == 0)
      part.exceptions.push_back(random_failure(id));
    else
      done.push_back(id);
  }
  if (settle(part, true))
    done_.insert(done_.end(), done.begin(), done.end());
}

void random_consumer::resolve_part(held_range& held, unresolved_rest rest) {
  const auto length = static_cast<unsigned>(held.range.high - held.range.low);
  if (length < 2)
    return finish_range(held, true);
  range_settlement part;
  part.token = held.token;
  part.resolved_to = held.range.low + 1 + pick(length - 1);
  part.rest = rest;
  std::vector<message_id> done;
  const auto end =
    std::upper_bound(held.ids.begin(), held.ids.end(), part.resolved_to);
  for (auto id = held.ids.begin(); id != end; ++id) {
    if (pick(4) == 0)
      part.exceptions.push_back(random_failure(*id));
    else
      done.push_back(*id);
  }
  if (!settle(part, false))
    return;
  done_.insert(done_.end(), done.begin(), done.end());
  if (rest == unresolved_rest::surrendered)
    return;
  held.ids.erase(held.ids.begin(), end);
  held.range.low = part.resolved_to;
  ranges_.push_back(std::move(held));
}

exception_entry random_consumer::random_failure(message_id id) {
  static constexpr outcome_kind kinds[] = {
    outcome_kind::retry, outcome_kind::retry, outcome_kind::dead,
    outcome_kind::delay, outcome_kind::deferred};
  exception_entry entry;
  entry.id = id;
  entry.change = first_run(kinds[pick(5)], retries(allowed_retries));
  entry.change.run_after = std::chrono::milliseconds{pick(2) * pick(10)};
  entry.error = "a failure by chance";
  return entry;
}

bool random_consumer::settle(const range_settlement& part, bool is_last) {
  auto request = empty_settlement();
  request.ranges.push_back(part);
  const bool took_effect = send(request).lost_ranges.empty();
  // What is gone must not be settled again, nor a second time.
  const bool gone =
    part.rest == unresolved_rest::surrendered || is_last || !took_effect;
  if (gone && pick(4) == 0 && send(request).lost_ranges.empty())
    complain("a settlement with a stale token took effect, up to id "
             + std::to_string(part.resolved_to));
  return took_effect;
}

void random_consumer::end_run() {
  if (runs_.empty())
    return claim_exceptions();
  const auto held = take_out(runs_, pick(static_cast<unsigned>(runs_.size())));
  if (held.may_vanish && pick(3) == 0)
    return;
  static constexpr outcome_kind kinds[] = {
    outcome_kind::done, outcome_kind::done,  outcome_kind::retry,
    outcome_kind::dead, outcome_kind::delay, outcome_kind::deferred};
  settle(held.run, kinds[pick(6)]);
}

void random_consumer::settle(const claimed_exception& run,
                             outcome_kind outcome) {
  exception_settlement part;
  part.id = run.message.id;
  part.token = run.token;
  part.change =
    later_run({run.attempts, run.delays}, outcome, retries(allowed_retries));
  part.change.run_after = std::chrono::milliseconds{pick(2) * pick(10)};
  part.error = "a later failure by chance";
  auto request = empty_settlement();
  request.exceptions.push_back(part);
  const bool took_effect = send(request).lost_exceptions.empty();
  if (took_effect && outcome == outcome_kind::done)
    done_.push_back(part.id);
  if (pick(4) == 0 && send(request).lost_exceptions.empty())
    complain("the run of exception " + std::to_string(part.id)
             + " was settled twice with one token");
}

settle_request random_consumer::empty_settlement() const {
  settle_request request;
  request.stream = system_.stream.id;
  request.group = system_.group.id;
  return request;
}

settle_result random_consumer::send(const settle_request& request) {
  auto result = session_->settle(request);
  if (result.committed < committed_)
    complain("the cursor went back from " + std::to_string(committed_) + " to "
             + std::to_string(result.committed));
  committed_ = result.committed;
  return result;
}

void random_consumer::kill() {
  session_->kill_exhausted({.stream = system_.stream.id,
                            .group = system_.group.id,
                            .budget = budget,
                            .limit = 1 + pick(20)});
}

// One statement, hence one snapshot: what it finds was so at one moment.
void random_consumer::look() {
  const auto below = hand_.ask(R"sql(
    SELECT coalesce(
             (SELECT 'a lease from ' || l.low
              FROM {schema}.claim_lease_{stream} AS l
              WHERE l.low < c.committed OR l.high > c.claimed LIMIT 1),
             (SELECT 'exception ' || e.message_id
              FROM {schema}.exception_queue_{stream} AS e
              WHERE e.status <> 'dead' AND e.message_id <= c.committed
              LIMIT 1)) || ' is open outside of committed ' || c.committed
             || ' to claimed ' || c.claimed
    FROM {schema}.consumer_group_cursor_{stream} AS c
  )sql");
  if (!below.empty())
    complain(below);
}

void random_consumer::finish() {
  for (auto& held : std::exchange(ranges_, {}))
    finish_range(held, false);
  for (const auto& held : std::exchange(runs_, {}))
    settle(held.run, outcome_kind::done);
}

void random_consumer::drain() {
  claim();
  reclaim();
  claim_exceptions();
  kill();
  finish();
}

} // namespace sqlstreams::test
