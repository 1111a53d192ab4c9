#include "apps/demo/consumer_role.hpp"

#include "actors/client.hpp"
#include "actors/log.hpp"
#include "apps/demo/ledger.hpp"
#include "apps/demo/order.hpp"

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include <sys/prctl.h>
#include <unistd.h>

namespace sqlstreams::demo {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

/// How long the payment provider takes.
constexpr auto payment_time = 3ms;

// The parent may have ended before the question was asked; then nobody would
// send the signal.
bool end_with_parent(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  return ::getppid() == parent;
}

/// Takes SIGTERM as a wish to stop. It is held back until now, see
/// consumer_fleet.
std::stop_token listen_for_stop() {
  auto stop = stop_on_signals();
  sigset_t held_back;
  sigemptyset(&held_back);
  sigaddset(&held_back, SIGTERM);
  ::pthread_sigmask(SIG_UNBLOCK, &held_back, nullptr);
  return stop;
}

/// The work of the demo. The ledger comes first: whatever is reported as done
/// was written down before.
outcome charge(ledger_writer& ledger, const order& what, const delivery& run) {
  std::this_thread::sleep_for(payment_time);
  ledger_entry entry{run.message.id, what.number, run.attempt, ::getpid(),
                     ledger_mark::done};
  const bool declined = run.attempt < what.declines;
  if (declined)
    entry.mark = ledger_mark::declined;
  ledger.append(entry);
  return declined ? retry("the card was declined") : done();
}

consume_options instance_settings() {
  consume_options options;
  options.message_concurrency = 4;
  options.batch_max = 200; // small claims: the work is spread over all
  options.claim_poll_rate = 100ms;
  options.queue_margin = 1500ms;
  options.record_margin = 500ms;
  options.config_refresh_interval = 5s;
  return options;
}

void write_totals(const fs::path& path, const session_totals& totals) {
  std::ofstream{path} << nlohmann::json{{"claimed", totals.claimed},
                                        {"success", totals.success},
                                        {"retried", totals.ready},
                                        {"dead", totals.dead},
                                        {"reclaimed", totals.reclaimed},
                                        {"quarantined", totals.quarantined},
                                        {"lease_lost", totals.lease_lost}}
                      << '\n';
}

std::string file_name(int number, const char* ending) {
  return "consumer-" + std::to_string(number) + ending;
}

} // namespace

consumer_config group_settings() {
  consumer_config group;
  group.message.timeout = 1s;
  group.message.retry.emplace();
  group.message.retry->base_delay = 300ms;
  group.exception_initial_backoff = 300ms;
  return group;
}

int run_consumer(const consumer_role& role) {
  const auto stop = listen_for_stop();
  if (!end_with_parent(role.parent))
    return 1;
  configure_log({log_level::info, log_format::text});
  ledger_writer ledger{ledger_path(role.folder, role.number)};
  node_options options;
  options.url = role.url;
  options.schema = role.schema;
  options.max_connections = 4;
  options.name = "demo-consumer-" + std::to_string(role.number);
  options.register_system = false;
  const client db{options};
  const auto totals =
    db.stream<order>(stream_name)
      .consumer(group_name)
      .open()
      .consume([&](const order& what,
                   delivery& run) { return charge(ledger, what, run); },
               instance_settings(), stop);
  write_totals(totals_path(role.folder, role.number), totals);
  return 0;
}

fs::path ledger_path(const fs::path& folder, int number) {
  return folder / file_name(number, ".ledger");
}

fs::path totals_path(const fs::path& folder, int number) {
  return folder / file_name(number, ".totals");
}

fs::path log_path(const fs::path& folder, int number) {
  return folder / file_name(number, ".log");
}

} // namespace sqlstreams::demo
