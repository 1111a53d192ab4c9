#pragma once
// A runner without threads: handlers take virtual time.

#include "actors/runner.hpp"
#include "actors/session_outcome.hpp"
#include "tests/support/test_node.hpp"

#include <caf/event_based_actor.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace sqlstreams::test {

/// What scripted handlers do, and what they did.
struct handler_script {
  /// May be changed at any time.
  std::function<outcome(const run_item&)> handler = [](const run_item&) {
    return done();
  };
  std::chrono::nanoseconds takes{}; ///< each run, also beyond any timeout
  std::vector<message_id> started;
  std::vector<std::int64_t> attempts; ///< of those
  int running = 0;
  int most_running = 0;
};

using handler_script_ptr = std::shared_ptr<handler_script>;

struct scripted_runner_state {
  static inline const char* name = "test.scripted_runner";
  std::uint64_t chunk = 0;
  std::shared_ptr<const std::vector<run_item>> items;
  std::vector<run_result> results;
  std::size_t index = 0;
  std::chrono::nanoseconds busy{};
  bool early_end = false;
  bool stopping = false; ///< what runs was asked to end by a shutdown
  range_number cancelled = 0;
};

/// scripted runner -> itself.
struct scripted_run_over {
  std::uint64_t chunk = 0;
};
struct scripted_grace_over {
  std::uint64_t chunk = 0;
};

} // namespace sqlstreams::test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::test::scripted_run_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::test::scripted_grace_over)

namespace sqlstreams::test {

using scripted_runner_ptr = caf::stateful_actor<scripted_runner_state>*;

inline void report_scripted(scripted_runner_ptr self, const runner_args& args) {
  auto& state = self->state;
  state.items.reset();
  self->send(args.owner,
             chunk_finished{args.slot, state.chunk, std::move(state.results),
                            state.busy, false});
}

inline void start_scripted(scripted_runner_ptr self, const runner_args& args,
                           const handler_script_ptr& script) {
  auto& state = self->state;
  for (; state.index < state.items->size(); ++state.index) {
    const auto& item = (*state.items)[state.index];
    if (state.early_end || self->clock().now() > item.start_by
        || (state.cancelled != 0 && state.cancelled == item.range))
      continue;
    script->started.push_back(item.message->id);
    script->attempts.push_back(item.attempt);
    script->most_running = std::max(script->most_running, ++script->running);
    if (script->takes.count() > 0)
      return self->delayed_send(self, script->takes,
                                scripted_run_over{state.chunk});
    --script->running;
    state.results[state.index] = {true, false, script->handler(item)};
  }
  report_scripted(self, args);
}

inline caf::behavior scripted_runner(scripted_runner_ptr self, runner_args args,
                                     handler_script_ptr script) {
  return {
    [=](const run_chunk& what) {
      auto& state = self->state;
      state.chunk = what.number;
      state.items = what.items;
      state.results.assign(what.items->size(), {});
      state.index = 0;
      state.busy = {};
      state.early_end = false;
      start_scripted(self, args, script);
    },
    [=](scripted_run_over what) {
      auto& state = self->state;
      --script->running;
      if (!state.items || state.chunk != what.chunk)
        return;
      auto ended = script->handler((*state.items)[state.index]);
      state.results[state.index] = {
        true, false, state.stopping ? cut_short(std::move(ended)) : ended};
      state.busy += script->takes;
      ++state.index;
      start_scripted(self, args, script);
    },
    [=](finish_early) { self->state.early_end = true; },
    [=](cancel_range what) { self->state.cancelled = what.range; },
    [=](stop_handlers what) {
      self->state.early_end = true;
      self->state.stopping = true;
      if (self->state.items)
        self->delayed_send(self, what.grace,
                           scripted_grace_over{self->state.chunk});
    },
    [=](scripted_grace_over what) {
      auto& state = self->state;
      if (!state.items || state.chunk != what.chunk)
        return;
      state.results[state.index] = {true, true, cut_short(retry("abandoned"))};
      report_scripted(self, args);
    },
  };
}

inline runner_factory scripted_runners(handler_script_ptr script) {
  return [=](caf::event_based_actor* owner, runner_args args) {
    return owner->spawn<caf::monitored>(scripted_runner, std::move(args),
                                        script);
  };
}

} // namespace sqlstreams::test
