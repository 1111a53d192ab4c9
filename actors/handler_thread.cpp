#include "actors/handler_thread.hpp"

#include "actors/session_outcome.hpp"

#include <condition_variable>
#include <set>
#include <stop_token>

namespace sqlstreams {

/// All that a thread touches. It outlives its handler_thread if a handler does
/// not end.
struct handler_thread::work {
  std::shared_ptr<const message_handler> handler;
  std::string stream;
  std::string group;
  std::shared_ptr<abandoned_runs> abandoned;
  std::function<void(chunk_report)> finished;
  std::function<void()> freed;

  std::mutex mutex;
  std::condition_variable wake;
  bool closed = false;           ///< the owner is gone, or has let this go
  bool counts_abandoned = false; ///< holds a place among the abandoned
  bool given_up = false;         ///< what runs is not wanted any more
  bool early_end = false;
  std::set<range_number> cancelled; ///< ranges whose lease is lost
  std::shared_ptr<const std::vector<run_item>> items; ///< set: a chunk waits
  chunk_report report;
  std::optional<running_message> running;
  std::stop_source stop;
  bool stop_used = false;
};

namespace {

outcome call(const message_handler& handler, delivery& run) {
  try {
    return from_handler(handler(run));
  } catch (...) {
    return from_exception();
  }
}

bool may_start(const run_item& item, monotonic_time now) {
  return now <= item.start_by;
}

} // namespace

handler_thread::handler_thread(settings given) : settings_{std::move(given)} {
  start();
}

void handler_thread::start() {
  work_ = std::make_shared<work>();
  work_->handler = settings_.handler;
  work_->stream = settings_.stream;
  work_->group = settings_.group;
  work_->abandoned = settings_.abandoned;
  work_->finished = settings_.finished;
  work_->freed = settings_.freed;
  thread_ = std::thread{[mine = work_] {
    serve(mine);
  }};
}

handler_thread::~handler_thread() {
  bool in_handler = false;
  std::stop_source stop{std::nostopstate};
  {
    std::lock_guard lock{work_->mutex};
    work_->closed = true;
    // The callbacks may hold an actor of a system that is about to end.
    work_->finished = nullptr;
    work_->freed = nullptr;
    in_handler = work_->running.has_value();
    stop = work_->stop;
  }
  work_->wake.notify_one();
  if (in_handler) {
    stop.request_stop();
    thread_.detach();
  } else {
    thread_.join();
  }
}

void handler_thread::serve(const std::shared_ptr<work>& mine) {
  std::unique_lock lock{mine->mutex};
  while (!mine->closed) {
    if (mine->items)
      serve_chunk(*mine, lock);
    else
      mine->wake.wait(lock);
  }
  if (mine->counts_abandoned)
    mine->abandoned->remove();
}

void handler_thread::serve_chunk(work& mine,
                                 std::unique_lock<std::mutex>& lock) {
  const auto items = mine.items;
  const auto handler = mine.handler;
  for (std::size_t i = 0; i < items->size() && !mine.closed; ++i) {
    const auto& item = (*items)[i];
    const auto since = std::chrono::steady_clock::now();
    if (mine.early_end || !may_start(item, since)
        || mine.cancelled.contains(item.range))
      continue;
    mine.running = {i, since};
    if (mine.stop_used)
      mine.stop = std::stop_source{};
    mine.stop_used = false;
    delivery run{*item.message,
                 mine.stream,
                 mine.group,
                 item.attempt,
                 item.delays,
                 item.options,
                 since + item.options.timeout,
                 mine.stop.get_token()};
    lock.unlock();
    auto ended = call(*handler, run);
    const auto took = std::chrono::steady_clock::now() - since;
    lock.lock();
    mine.running.reset();
    if (mine.given_up)
      break;
    auto& result = mine.report.results[i];
    result.ran = true;
    result.result = std::move(ended);
    mine.report.busy += took;
  }
  mine.items.reset();
  if (mine.closed)
    return;
  // Under the lock: once the owner has closed this, nothing is called.
  if (mine.given_up) {
    mine.given_up = false;
    if (mine.freed)
      mine.freed();
  } else if (mine.finished) {
    mine.finished(std::move(mine.report));
  }
}

void handler_thread::run(std::uint64_t number,
                         std::shared_ptr<const std::vector<run_item>> items) {
  {
    std::lock_guard lock{work_->mutex};
    work_->report = chunk_report{};
    work_->report.number = number;
    work_->report.results.resize(items->size());
    work_->early_end = false;
    work_->cancelled.clear();
    work_->items = std::move(items);
  }
  work_->wake.notify_one();
}

std::optional<handler_thread::running_message> handler_thread::running() const {
  std::lock_guard lock{work_->mutex};
  return work_->running;
}

bool handler_thread::stop_message(std::size_t index) {
  std::stop_source stop{std::nostopstate};
  {
    std::lock_guard lock{work_->mutex};
    if (!work_->running || work_->running->index != index || work_->given_up)
      return false;
    work_->stop_used = true; // the next message gets a fresh one
    stop = work_->stop;
  }
  // Outside of the lock: this calls what the handler registered with it.
  stop.request_stop();
  return true;
}

void handler_thread::finish_early() {
  std::lock_guard lock{work_->mutex};
  work_->early_end = true;
}

void handler_thread::cancel_range(range_number range) {
  std::optional<std::size_t> affected;
  {
    std::lock_guard lock{work_->mutex};
    work_->cancelled.insert(range);
    if (work_->running && work_->items
        && (*work_->items)[work_->running->index].range == range)
      affected = work_->running->index;
  }
  if (affected)
    stop_message(*affected);
}

std::optional<handler_thread::given_up>
handler_thread::abandon(std::size_t index) {
  given_up result;
  {
    std::lock_guard lock{work_->mutex};
    if (!work_->running || work_->running->index != index || work_->given_up)
      return std::nullopt;
    result.report = std::move(work_->report);
    work_->given_up = true;
    result.thread_kept = !work_->abandoned->add();
    if (!result.thread_kept) {
      work_->closed = true;
      work_->counts_abandoned = true;
      work_->finished = nullptr;
      work_->freed = nullptr;
    }
  }
  if (!result.thread_kept) {
    thread_.detach();
    start();
  }
  return result;
}

} // namespace sqlstreams
