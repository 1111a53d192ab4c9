#include "actors/node.hpp"

#include "actors/consumption_state.hpp"
#include "actors/error_transport.hpp"
#include "actors/log.hpp"
#include "actors/producer.hpp"
#include "actors/registrar.hpp"
#include "actors/retry_schedule.hpp"
#include "actors/roster.hpp"
#include "actors/spawn.hpp"
#include "storage/interruptible_factory.hpp"
#include "storage/postgres/connection_settings.hpp"
#include "storage/postgres/postgres_store.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include <unistd.h>

namespace sqlstreams {

namespace {

using clock = std::chrono::steady_clock;

std::string host_and_pid() {
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  return fmt::format("{}-{}", host, ::getpid());
}

node_options completed(node_options options) {
  if (options.name.empty())
    options.name = host_and_pid();
  if (options.seed == 0)
    options.seed = std::random_device{}();
  return options;
}

void check(const node_options& options) {
  throw_if_any(options.retry.validate(retry_job::database), "retry");
  if (options.max_connections == 0)
    throw error{code::invalid_option, "max_connections is 0",
                "Give at least one connection."};
}

/// Opens a session and makes sure that there is an installation.
void meet_installation(store_factory& factory, const node_options& options,
                       const std::shared_ptr<call_interrupt>& interrupt) {
  const auto session = open_session(factory, interrupt);
  if (session->find_system() || !options.register_system)
    return;
  const auto made = session->register_system();
  if (made.effect == registration_effect::created)
    log_note(
      log_level::info, "installation created",
      {field("schema", options.schema), field("version", made.system.version)});
}

/// Tells whether a server that refused is about to be ready.
using startup_check = std::function<bool()>;

void refuse_if_stopping(const node_options& options) {
  if (options.stop.stop_requested())
    throw error{code::shutting_down, "asked to stop before it was connected"};
}

// Nobody there, or the wrong password: fails at once, the caller wants to know.
// A server that is about to be ready is worth a moment.
void connect(store_factory& factory, const node_options& options,
             const startup_check& is_starting) {
  const auto interrupt = std::make_shared<call_interrupt>();
  interrupt->begin(); // one call to whoever waits for it
  const std::stop_callback on_stop{options.stop, [&] {
                                     interrupt->interrupt();
                                   }};
  const auto patience_ends = clock::now() + options.startup_patience;
  for (bool said = false;;) {
    refuse_if_stopping(options);
    try {
      return meet_installation(factory, options, interrupt);
    } catch (const error& e) {
      refuse_if_stopping(options);
      const bool passes = e.number() == code::database_unreachable
                            ? is_starting()
                            : e.recover() == recovery::transient;
      if (!passes || clock::now() >= patience_ends)
        throw;
      if (!std::exchange(said, true))
        log_note(log_level::info, "waiting for the database",
                 {field("error", e.detail())});
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{250});
  }
}

std::shared_ptr<store_factory> connect_to_postgres(const node_options& node) {
  const postgres_options options{node.url, node.schema, node.name};
  auto factory = make_postgres_factory(options);
  connect(*factory, node, [&] {
    return refusal_sqlstate(connection_settings(options))
           == "57P03"; // cannot_connect_now
  });
  return factory;
}

/// Made before the system and outliving it.
struct system_config : caf::actor_system_config {
  explicit system_config(const node_options& options) {
    add_sqlstreams_types(*this);
    set("scheduler.max-threads",
        static_cast<std::int64_t>(
          std::max<std::size_t>(options.scheduler_threads, 1)));
    // Threads that wait for work are woken; the stealing scheduler would look
    // for it every 10 ms when idle, which every blocking call would feel.
    set("scheduler.policy", caf::atom("sharing"));
  }
};

} // namespace

struct node::parts {
  explicit parts(node_options given)
    : options{std::move(given)}, config{options}, system{config} {}

  node_options options;
  system_config config;
  caf::actor_system system;
  caf::actor storage;
  caf::actor registrar;
  roster services; ///< storage and registrar
  roster producers;
  std::mutex mutex;
  std::vector<std::weak_ptr<consumption_state>> consumptions;
  std::atomic<bool> stopped = false;
  std::atomic<std::uint32_t> sessions = 0;
  std::chrono::nanoseconds deadline{};

  void start(caf::actor store_actor);
  void refuse_if_stopped() const;
  consumption start_consuming(consume_spec spec);
  std::vector<std::shared_ptr<consumption_state>> open_consumptions();
  void stop_consuming();
  void stop_producers();
  void stop_services();
  void stop() noexcept;
  bool ends_soon();
};

void node::parts::start(caf::actor store_actor) {
  deadline = storage_deadline(options.retry);
  storage = std::move(store_actor);
  services.add(storage);
  registrar =
    system.spawn(sqlstreams::registrar, registrar_args{storage, deadline});
  services.add(registrar);
}

void node::parts::refuse_if_stopped() const {
  if (stopped)
    throw error{code::shutting_down};
}

consumption node::parts::start_consuming(consume_spec spec) {
  const auto number = ++sessions;
  if (spec.instance.empty())
    spec.instance = fmt::format("{}/{}", options.name, number);
  if (spec.seed == 0 || spec.seed == 1)
    spec.seed = options.seed + number;
  auto state = std::make_shared<consumption_state>(
    system, shutdown_budget(spec.group.config, spec.options));
  const auto watcher = spawn_session_watcher(system, state);
  try {
    const auto session =
      spawn_consumer_session(system, storage, std::move(spec), watcher);
    state->began(session);
    caf::anon_send(watcher, session);
  } catch (...) {
    caf::anon_send_exit(watcher, caf::exit_reason::kill);
    throw;
  }
  const std::lock_guard lock{mutex};
  std::erase_if(consumptions, [](const auto& known) {
    const auto state = known.lock();
    return !state || state->ended();
  });
  consumptions.push_back(state);
  if (stopped) // the node's own pass over the list may be over
    state->stop();
  return consumption{std::move(state)};
}

std::vector<std::shared_ptr<consumption_state>>
node::parts::open_consumptions() {
  std::vector<std::shared_ptr<consumption_state>> open;
  const std::lock_guard lock{mutex};
  for (const auto& known : consumptions)
    if (auto state = known.lock(); state && !state->ended())
      open.push_back(std::move(state));
  return open;
}

void node::parts::stop_consuming() {
  const auto open = open_consumptions();
  std::chrono::nanoseconds longest{};
  for (const auto& state : open) {
    state->stop();
    longest = std::max(longest, state->budget());
  }
  const auto until = clock::now() + longest + std::chrono::seconds{5};
  for (const auto& state : open) {
    if (!state->wait_until(until))
      state->kill();
  }
}

void node::parts::stop_producers() {
  producers.end_all();
  // Each keeps its own grace; this is for one that is stuck.
  producers.wait_until_empty(clock::now() + std::chrono::minutes{5});
}

void node::parts::stop_services() {
  services.end_all();
  services.wait_until_empty(clock::now() + std::chrono::seconds{15});
}

void node::parts::stop() noexcept {
  if (stopped.exchange(true))
    return;
  try {
    stop_consuming();
    stop_producers();
    stop_services();
  } catch (const std::exception& e) {
    log_note(log_level::error, "the node did not end in order",
             {field("error", std::string_view{e.what()})});
  }
}

/// Whether all actors have ended within a few seconds.
bool node::parts::ends_soon() {
  const auto until = clock::now() + std::chrono::seconds{3};
  while (system.registry().running() > 0) {
    if (clock::now() >= until)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
  return true;
}

node::node(node_options options) {
  check(options);
  options = completed(std::move(options));
  const auto factory = connect_to_postgres(options);
  parts_ = std::make_unique<parts>(std::move(options));
  storage_pool_options pool;
  pool.max_connections = parts_->options.max_connections;
  pool.retry = parts_->options.retry;
  pool.seed = parts_->options.seed;
  parts_->start(spawn_storage_pool(parts_->system, factory, pool));
}

node::node(const std::shared_ptr<store_factory>& factory,
           node_options options) {
  check(options);
  options = completed(std::move(options));
  connect(*factory, options, [] { return false; });
  parts_ = std::make_unique<parts>(std::move(options));
  parts_->start(spawn_inline_storage(parts_->system, factory->open()));
}

node::~node() {
  stop();
  // The actor system waits for its actors as long as it takes, and a worker may
  // sit in a database call that not even an interruption ended. The process
  // must end all the same: then the system and that thread are left to it.
  if (parts_ && !parts_->ends_soon()) {
    log_note(log_level::warning,
             "a database call has not returned; it is left behind");
    static_cast<void>(parts_.release());
  }
}

caf::actor_system& node::system() noexcept { return parts_->system; }

const caf::actor& node::storage() const noexcept { return parts_->storage; }

const caf::actor& node::registrar() const noexcept { return parts_->registrar; }

const node_options& node::options() const noexcept { return parts_->options; }

std::chrono::nanoseconds node::deadline() const noexcept {
  return parts_->deadline;
}

caf::actor node::start_producer(stream_info stream,
                                const producer_config& config) {
  parts_->refuse_if_stopped();
  auto started = parts_->system.spawn(
    producer, make_producer_args(parts_->storage, std::move(stream), config,
                                 parts_->options.retry));
  parts_->producers.add(started);
  return started;
}

consumption node::start_consuming(consume_spec spec) {
  parts_->refuse_if_stopped();
  return parts_->start_consuming(std::move(spec));
}

bool node::stopped() const noexcept { return parts_->stopped; }

void node::stop() noexcept {
  if (parts_)
    parts_->stop();
}

void node::give_up_calls() noexcept {
  if (parts_)
    caf::anon_send_exit(parts_->storage, caf::exit_reason::user_shutdown);
}

} // namespace sqlstreams
