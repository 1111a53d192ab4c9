#include "apps/demo/demo_run.hpp"

#include "apps/demo/account.hpp"
#include "apps/demo/consumer_fleet.hpp"
#include "apps/demo/consumer_role.hpp"
#include "apps/demo/demo_database.hpp"
#include "apps/demo/live_run.hpp"
#include "apps/demo/order_file.hpp"
#include "apps/demo/shop.hpp"
#include "apps/dev_server/work_folder.hpp"

#include <fmt/format.h>

#include <deque>
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace sqlstreams::demo {

namespace {

namespace fs = std::filesystem;

/// More than the shutdown budget of a consumer.
constexpr std::chrono::seconds stop_limit{15};

client connect(demo_database& database) {
  node_options options;
  options.url = database.url();
  options.schema = database.schema();
  options.max_connections = 3;
  options.name = "demo";
  client made{options};
  database.is_in_use();
  return made;
}

/// Enters all ledgers from their start.
account_book read_account(const fs::path& orders, const consumer_fleet& fleet,
                          const fs::path& folder) {
  account_book book{order_numbers(orders)};
  for (const auto& consumer : fleet.all()) {
    ledger_reader ledger{ledger_path(folder, consumer.number)};
    for (const auto& line : ledger.new_lines())
      book.enter(line);
    if (!ledger.rest().empty())
      book.enter(ledger.rest());
  }
  return book;
}

/// Returns how many ranges the consumers that ended in order took over.
std::uint64_t reclaimed_ranges(const consumer_fleet& fleet,
                               const fs::path& folder) {
  std::uint64_t sum = 0;
  for (const auto& consumer : fleet.all()) {
    std::ifstream file{totals_path(folder, consumer.number)};
    const auto totals = nlohmann::json::parse(file, nullptr, false);
    if (totals.is_object())
      sum += totals.value("reclaimed", std::uint64_t{0});
  }
  return sum;
}

void stop(consumer_fleet& fleet, std::vector<std::string>& complaints) {
  if (!fleet.stop(stop_limit))
    complaints.push_back(fmt::format(
      "a consumer had not ended {} s after SIGTERM", stop_limit.count()));
  for (const auto& consumer : fleet.all())
    if (!consumer.killed && consumer.status && *consumer.status != 0)
      complaints.push_back(
        fmt::format("consumer {} ended with status {} after SIGTERM",
                    consumer.number, *consumer.status));
}

void judge_kill(const live_run& live, std::uint64_t reclaimed,
                std::vector<std::string>& complaints) {
  constexpr auto advice = "use more --messages, or --no-kill to do without it";
  if (!live.killed())
    complaints.push_back(fmt::format("no consumer was killed: {}", advice));
  else if (reclaimed == 0)
    complaints.push_back(fmt::format(
      "the killed consumer left no work to be taken over: {}", advice));
}

void judge_account(const account_book& book, const live_run& live,
                   std::vector<std::string>& complaints) {
  for (const auto number : book.lost_orders(10))
    complaints.push_back(fmt::format("order {} is lost", number));
  for (const auto& line : book.oddities())
    complaints.push_back(fmt::format("unexpected in a ledger: '{}'", line));
  if (live.lag().dead > 0)
    complaints.push_back(
      fmt::format("{} messages are dead letters", live.lag().dead));
}

void show_shares(progress_view& view, const account_book& book,
                 const consumer_fleet& fleet) {
  std::string text = "charged first by";
  for (const auto& consumer : fleet.all()) {
    const auto found = book.first_charges().find(consumer.pid);
    const auto count = found == book.first_charges().end() ? 0 : found->second;
    text += fmt::format(" consumer {}{}: {}", consumer.number,
                        consumer.killed ? " (killed)" : "", count);
  }
  view.say(text);
}

/// The last words of consumers that did not end in order.
void show_logs(const consumer_fleet& fleet, const fs::path& folder) {
  constexpr std::size_t shown = 5;
  for (const auto& consumer : fleet.all()) {
    if (consumer.killed || consumer.status == 0)
      continue;
    std::deque<std::string> lines;
    std::ifstream file{log_path(folder, consumer.number)};
    for (std::string line; std::getline(file, line);) {
      lines.push_back(line);
      if (lines.size() > shown)
        lines.pop_front();
    }
    for (const auto& line : lines)
      std::cerr << "demo: consumer " << consumer.number << ": " << line << '\n';
  }
}

/// One run, with everything it made; ends all of it when destroyed.
class whole_run {
public:
  whole_run(const demo_options& options, progress_view& view)
    : options_{options}, view_{view}, orders_{work_.path() / "orders.ndjson"},
      database_{start_database()}, client_{connect(database_)},
      fleet_{work_.path(), database_.url(), database_.schema()} {}

  /// @returns the exit status
  int run() {
    view_.say(database_.description());
    write_orders();
    declare();
    start_fleet();
    const auto stream = client_.stream<order>(stream_name);
    const shop produce{stream.register_producer(), orders_};
    live_run live{{view_, fleet_, produce, stream.consumer(group_name),
                   work_.path(), order_numbers(orders_), options_.kill}};
    std::vector<std::string> complaints;
    try {
      live.watch();
    } catch (const std::exception& failure) {
      complaints.emplace_back(
        failure.what()); // the account is given all the same
    }
    return conclude(live, std::move(complaints));
  }

  /// Leaves everything in place if that is wished for.
  void keep_if_wanted() {
    if (!options_.keep)
      return;
    database_.keep();
    work_.keep();
    view_.say("kept: " + work_.path().string());
    view_.say("kept: " + database_.description());
  }

private:
  demo_database start_database() {
    view_.say(options_.url.empty()
                ? "starting a PostgreSQL of its own"
                : "using the server of SQLSTREAMS_DATABASE_URL");
    return {options_.url, work_.path()};
  }

  void start_fleet() {
    std::string pids;
    for (int i = 0; i < options_.consumers; ++i) {
      fleet_.start_one();
      pids += fmt::format(" {}", fleet_.all().back().pid);
    }
    view_.say("consumer processes are started:" + pids);
  }

  void write_orders() {
    check_interruption();
    write_order_file(orders_, options_.messages, options_.seed);
    view_.say(
      fmt::format("{} orders are in {}", options_.messages, orders_.string()));
  }

  void declare() {
    const auto stream = client_.stream<order>(stream_name);
    stream.register_stream();
    stream.consumer(group_name).register_group(group_settings());
    check_interruption();
  }

  int conclude(const live_run& live, std::vector<std::string> complaints) {
    view_.finish();
    stop(fleet_, complaints);
    const auto book = read_account(orders_, fleet_, work_.path());
    const auto reclaimed = reclaimed_ranges(fleet_, work_.path());
    show_shares(view_, book, fleet_);
    view_.say(fmt::format("{} runs were declined and tried again, {} ranges "
                          "were taken over",
                          book.sums().declined, reclaimed));
    if (options_.kill)
      judge_kill(live, reclaimed, complaints);
    judge_account(book, live, complaints);
    for (const auto& complaint : complaints)
      view_.say("FAILED: " + complaint);
    keep_if_wanted();
    show_logs(fleet_, work_.path());
    const bool passed = complaints.empty() && book.sums().balanced();
    std::cout << summary_line(book.sums()) << '\n' << std::flush;
    return passed ? 0 : 1;
  }

  demo_options options_;
  progress_view& view_;
  work_folder work_{"demo"};
  fs::path orders_;
  demo_database database_;
  client client_;
  consumer_fleet fleet_;
};

} // namespace

int run_demo(const demo_options& options) {
  progress_view view;
  try {
    whole_run run{options, view};
    try {
      return run.run();
    } catch (...) {
      run.keep_if_wanted();
      throw;
    }
  } catch (const interrupted& by) {
    view.say("interrupted");
    return 128 + by.signal;
  }
}

} // namespace sqlstreams::demo
