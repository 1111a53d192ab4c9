#include "apps/demo/live_run.hpp"

#include "apps/demo/consumer_role.hpp"
#include "apps/demo/interruption.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <thread>
#include <utility>

namespace sqlstreams::demo {

namespace {

using namespace std::chrono_literals;

/// Between two looks at the ledgers, and at the group in the database.
constexpr auto tick = 20ms;
constexpr auto group_tick = 200ms;

/// Ten leases: whatever has not moved for so long never will.
constexpr auto patience = 30s;

} // namespace

void check_interruption() {
  if (const int signal = interruption(); signal != 0)
    throw interrupted{signal};
}

live_run::live_run(live_run_parts parts)
  : parts_{std::move(parts)}, book_{parts_.numbers} {
  for (const auto& consumer : parts_.fleet.all())
    ledgers_.emplace_back(ledger_path(parts_.folder, consumer.number));
  newly_.resize(ledgers_.size());
}

void live_run::watch() {
  while (true) {
    check_interruption();
    read_ledgers();
    look_at_fleet();
    if (kill_is_due())
      kill_busiest();
    look_at_group();
    parts_.view.show(moment());
    if (settled())
      return;
    note_movement();
    std::this_thread::sleep_for(tick);
  }
}

void live_run::read_ledgers() {
  for (std::size_t i = 0; i < ledgers_.size(); ++i) {
    const auto lines = ledgers_[i].new_lines();
    newly_[i] = lines.size();
    for (const auto& line : lines)
      book_.enter(line);
  }
  rate_.note(clock::now(), book_.sums().handled);
}

void live_run::look_at_fleet() {
  parts_.fleet.look();
  for (const auto& consumer : parts_.fleet.all())
    if (consumer.status && !consumer.killed)
      throw std::runtime_error(
        fmt::format("consumer {} ended by itself with status {}",
                    consumer.number, *consumer.status));
}

void live_run::look_at_group() {
  const auto now = clock::now();
  if (now < next_look_)
    return;
  next_look_ = now + group_tick;
  group_seen_ = parts_.orders.finished();
  lag_ = parts_.group.lag();
  if (killed_ && !recovery_ && lag_.committed >= claimed_at_kill_) {
    recovery_ =
      std::chrono::duration_cast<std::chrono::milliseconds>(now - killed_at_);
    parts_.view.say(fmt::format("what consumer {} had claimed is handled, "
                                "{:.1f} s after the kill",
                                *killed_, recovery_->count() / 1e3));
  }
}

bool live_run::kill_is_due() const {
  return parts_.kill && !killed_
         && book_.sums().handled * 2 >= book_.sums().produced;
}

// The one that wrote most just now surely is in the middle of something.
void live_run::kill_busiest() {
  const auto busiest = std::max_element(newly_.begin(), newly_.end());
  const auto& victim =
    parts_.fleet.all()[static_cast<std::size_t>(busiest - newly_.begin())];
  parts_.fleet.kill(victim.number);
  killed_ = victim.number;
  killed_at_ = clock::now();
  parts_.view.say(fmt::format(
    "kill -9 of consumer {} (process {}) at {} of {} orders", victim.number,
    victim.pid, book_.sums().handled, book_.sums().produced));
  claimed_at_kill_ = parts_.group.lag().claimed;
}

void live_run::note_movement() {
  const auto movement =
    static_cast<std::int64_t>(book_.sums().handled) + lag_.committed;
  if (movement != movement_) {
    movement_ = movement;
    moved_at_ = clock::now();
  } else if (clock::now() - moved_at_ > patience) {
    throw std::runtime_error(
      fmt::format("nothing has moved for {} s: head {}, claimed {}, "
                  "committed {}, ready {}, inflight {}, deferred {}",
                  patience.count(), lag_.head, lag_.claimed, lag_.committed,
                  lag_.ready, lag_.inflight, lag_.deferred));
  }
}

bool live_run::settled() const {
  return group_seen_ && lag_.committed >= lag_.head
         && lag_.ready + lag_.inflight + lag_.deferred == 0;
}

progress live_run::moment() const {
  progress now;
  now.total = book_.sums().produced;
  now.produced = parts_.orders.produced();
  now.handled = book_.sums().handled;
  // Ids count from 1 here, without gaps worth mentioning.
  now.in_flight = std::max<std::int64_t>(
    0, lag_.claimed - static_cast<std::int64_t>(now.handled));
  now.rate = rate_.per_second();
  if (killed_)
    now.note = recovery_ ? "recovered" : fmt::format("#{} killed", *killed_);
  return now;
}

} // namespace sqlstreams::demo
