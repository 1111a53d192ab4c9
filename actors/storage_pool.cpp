#include "actors/storage_pool.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/storage_calls.hpp"
#include "config/duration.hpp"

#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>

#include <algorithm>
#include <utility>

namespace sqlstreams {

namespace {

/// pool -> itself: the pause before an attempt is over.
struct attempt_due {
  std::uint64_t number = 0;
};

/// pool -> itself: a worker that died is to be replaced.
struct worker_due {};

/// pool -> itself: is a call over its time?
struct watch_due {};

/// pool -> itself: a worker has ended. By way of the mailbox, because the news
/// of it overtakes what the worker said before.
struct worker_ended {
  caf::actor_addr worker;
};

/// pool -> itself: calls that still run are interrupted.
struct exit_grace_over {};

/// pool -> itself: nothing is waited for any longer.
struct interrupt_grace_over {};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::attempt_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::worker_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::watch_due)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::worker_ended)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::exit_grace_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::interrupt_grace_over)

namespace sqlstreams {

namespace {

using pool_ptr = caf::stateful_actor<storage_pool_state>*;

void give_too_late(const storage_pool_state::job& job) {
  job.owed->give(
    to_caf_error(error{code::overloaded,
                       fmt::format("no database connection was free within {}",
                                   format_duration(job.begin_within)),
                       "Look for slow statements, or raise max_connections."}));
}

/// Returns the next job that may still begin.
std::optional<std::uint64_t> take_ready(storage_pool_state& state,
                                        monotonic_time now) {
  while (!state.ready.empty()) {
    const auto number = state.ready.front();
    state.ready.pop_front();
    const auto found = state.jobs.find(number);
    if (found == state.jobs.end())
      continue; // answered already
    if (now < found->second.begin_before)
      return number;
    give_too_late(found->second);
    state.jobs.erase(found);
  }
  return std::nullopt;
}

void dispatch(pool_ptr self) {
  auto& state = self->state;
  const auto now = self->clock().now();
  for (auto& worker : state.workers) {
    if (worker.runs)
      continue;
    const auto number = take_ready(state, now);
    if (!number)
      return;
    auto& job = state.jobs.at(*number);
    ++job.attempts;
    worker.runs = number;
    worker.over_time_at = now + job.attempt_limit;
    worker.interrupt->begin();
    self->send(worker.handle, run_call{*number, job.call, worker.interrupt});
  }
}

bool runs(const storage_pool_state& state, std::uint64_t number) {
  return std::any_of(state.workers.begin(), state.workers.end(),
                     [&](const auto& w) { return w.runs == number; });
}

/// Answers those who wait in vain, and interrupts what runs too long.
void end_what_is_over(storage_pool_state& state, monotonic_time now) {
  std::erase_if(state.jobs, [&](auto& item) {
    if (now < item.second.begin_before || runs(state, item.first))
      return false;
    give_too_late(item.second);
    return true;
  });
  for (const auto& worker : state.workers) {
    if (!worker.runs || now < worker.over_time_at)
      continue;
    if (!worker.interrupt->requested())
      log_note(log_level::warning,
               "a call that the database does not answer is interrupted");
    worker.interrupt->interrupt();
  }
}

// One timer for all: one a call would cost more than many a call does.
void watch(pool_ptr self, const storage_pool_args& args) {
  auto& state = self->state;
  if (state.jobs.empty() || std::exchange(state.watching, true))
    return;
  self->delayed_send(self, args.watch_rate, watch_due{});
}

std::size_t unanswered_but_running(const storage_pool_state& state) {
  const auto running =
    std::count_if(state.workers.begin(), state.workers.end(),
                  [](const auto& w) { return w.runs.has_value(); });
  return state.jobs.size() - static_cast<std::size_t>(running);
}

void accept(pool_ptr self, const storage_pool_args& args, repeatability repeat,
            call_times times, bound_call call) {
  auto& state = self->state;
  auto owed = std::make_unique<answer>(
    caf::response_promise{self->make_response_promise()});
  if (state.ending)
    return owed->give(to_caf_error(error{code::shutting_down}));
  if (unanswered_but_running(state) >= args.options.max_waiting)
    return owed->give(to_caf_error(error{
      code::overloaded, fmt::format("{} requests to the database are waiting",
                                    args.options.max_waiting)}));
  const auto number = ++state.last_number;
  storage_pool_state::job job;
  job.owed = std::move(owed);
  job.call = std::make_shared<const bound_call>(std::move(call));
  job.repeat = repeat;
  job.begin_within = milliseconds_for(times.begin_within);
  job.begin_before = self->clock().now() + job.begin_within;
  job.attempt_limit = times.attempt;
  state.jobs.emplace(number, std::move(job));
  state.ready.push_back(number);
  dispatch(self);
  watch(self, args);
}

bool says_connection_lost(code number) {
  return number == code::database_unreachable
         || number == code::database_interrupted
         || number == code::database_read_only
         || number == code::commit_confirmation_lost;
}

// One line when the state changes, however many calls meet it.
void note_connection(storage_pool_state& state, const error* failure) {
  const bool lost = failure && says_connection_lost(failure->number());
  if (lost && !state.connection_lost) {
    state.connection_lost = true;
    log_event(code::connection_lost, log_level::warning,
              "the database does not answer; calls are tried again",
              {field("error", failure->detail())});
  } else if (!failure && state.connection_lost) {
    state.connection_lost = false;
    log_event(code::connection_restored, log_level::info,
              "the database answers again");
  }
}

void end_job(pool_ptr self, std::uint64_t number, const call_finished& result) {
  auto& state = self->state;
  auto found = state.jobs.find(number);
  if (found == state.jobs.end())
    return; // answered at shutdown already
  auto& job = found->second;
  if (!result.failure) {
    note_connection(state, nullptr);
    job.owed->give(result.reply);
    state.jobs.erase(found);
    return;
  }
  const auto failure = from_caf_error(result.failure);
  note_connection(state, &failure);
  const auto pause =
    state.ending
      ? std::nullopt
      : state.retries->next(job.attempts, failure.recover(), job.repeat);
  if (pause && self->clock().now() + *pause < job.begin_before) {
    self->delayed_send(self, *pause, attempt_due{number});
  } else {
    job.owed->give(result.failure);
    state.jobs.erase(found);
  }
}

void quit_if_all_ended(pool_ptr self) {
  if (self->state.ending && self->state.workers.empty())
    self->quit(caf::exit_reason::user_shutdown);
}

void finish(pool_ptr self, const call_finished& result) {
  for (auto& worker : self->state.workers)
    if (worker.runs == result.number)
      worker.runs.reset();
  end_job(self, result.number, result);
  if (!self->state.ending)
    dispatch(self);
}

void replace_worker(pool_ptr self, const storage_pool_args& args,
                    const worker_ended& ended) {
  auto& workers = self->state.workers;
  auto gone = std::find_if(workers.begin(), workers.end(), [&](const auto& w) {
    return w.handle.address() == ended.worker;
  });
  if (gone == workers.end())
    return;
  const auto runs = gone->runs;
  // Dropped at once: a handle pins the thread of a detached actor.
  workers.erase(gone);
  if (runs)
    end_job(self, *runs,
            {*runs,
             {},
             to_caf_error(error{code::actor_failed, recovery::unknown,
                                "a storage worker ended in the middle of a "
                                "call"})});
  if (!self->state.ending)
    self->delayed_send(self, args.replace_delay, worker_due{});
  quit_if_all_ended(self);
}

void start_worker(pool_ptr self, const storage_pool_args& args) {
  if (self->state.ending)
    return;
  self->state.workers.push_back({args.start_worker(self)});
  dispatch(self);
}

void refuse_what_does_not_run(storage_pool_state& state) {
  std::erase_if(state.jobs, [&](auto& item) {
    if (runs(state, item.first))
      return false;
    item.second.owed->give(to_caf_error(error{code::shutting_down}));
    return true;
  });
  state.ready.clear();
}

void begin_end(pool_ptr self, const storage_pool_args& args) {
  auto& state = self->state;
  if (state.ending)
    return;
  state.ending = true;
  refuse_what_does_not_run(state);
  for (auto& worker : state.workers)
    self->send_exit(worker.handle, caf::exit_reason::user_shutdown);
  self->delayed_send(self, args.exit_grace, exit_grace_over{});
  quit_if_all_ended(self);
}

void interrupt_all(pool_ptr self, const storage_pool_args& args) {
  for (const auto& worker : self->state.workers)
    worker.interrupt->interrupt();
  self->delayed_send(self, args.interrupt_grace, interrupt_grace_over{});
}

void give_up_waiting(pool_ptr self) {
  // The askers learn that nobody knows. A worker ends when its call returns; if
  // not even an interruption did that, nobody waits for it.
  for (auto& item : self->state.jobs)
    item.second.owed->give(to_caf_error(
      error{code::no_answer, recovery::unknown,
            "the database had not answered when the process ended"}));
  self->state.jobs.clear();
  self->quit(caf::exit_reason::user_shutdown);
}

/// Makes the handler of one call: binds the request, remembers the promise.
auto accepting(pool_ptr self, std::shared_ptr<storage_pool_args> args) {
  return [=](const auto& call) {
    using request = typename std::decay_t<decltype(call)>::request;
    return [=](request& what) {
      auto shared = std::make_shared<const request>(std::move(what));
      accept(self, *args, call.repeat, times_of(*shared, args->options.retry),
             [call, shared](store& session) {
               return caf::make_message(call.run(session, *shared));
             });
      // The promise taken in `accept` answers.
      return caf::delegated<caf::message>{};
    };
  };
}

} // namespace

caf::behavior storage_pool(pool_ptr self, storage_pool_args given) {
  auto args = std::make_shared<storage_pool_args>(std::move(given));
  self->state.retries.emplace(args->options.retry, args->options.seed);
  self->set_down_handler([=](const caf::down_msg& down) {
    self->send(self, worker_ended{down.source});
  });
  self->set_exit_handler([=](const caf::exit_msg&) { begin_end(self, *args); });
  for (std::size_t i = 0;
       i < std::max<std::size_t>(args->options.max_connections, 1); ++i)
    start_worker(self, *args);
  return storage_behavior(
    accepting(self, args),
    // from workers
    [=](const call_finished& result) { finish(self, result); },
    // from itself
    [=](attempt_due due) {
      if (self->state.jobs.contains(due.number)) {
        self->state.ready.push_back(due.number);
        dispatch(self);
      }
    },
    [=](watch_due) {
      self->state.watching = false;
      end_what_is_over(self->state, self->clock().now());
      watch(self, *args);
    },
    [=](const worker_ended& ended) { replace_worker(self, *args, ended); },
    [=](worker_due) { start_worker(self, *args); },
    [=](exit_grace_over) { interrupt_all(self, *args); },
    [=](interrupt_grace_over) { give_up_waiting(self); });
}

caf::actor spawn_storage_pool(caf::actor_system& system,
                              std::shared_ptr<store_factory> factory,
                              const storage_pool_options& options) {
  storage_pool_args args;
  args.options = options;
  args.start_worker = [factory](caf::event_based_actor* pool) {
    return pool->spawn<caf::detached + caf::monitored>(storage_worker, factory,
                                                       caf::actor{pool});
  };
  return system.spawn(storage_pool, std::move(args));
}

} // namespace sqlstreams
