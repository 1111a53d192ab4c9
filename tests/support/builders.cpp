#include "tests/support/builders.hpp"

#include <utility>

namespace sqlstreams::test {

namespace {

exception_change at_once(exception_change change) {
  change.run_after = {};
  return change;
}

} // namespace

new_message a_message(std::string payload) {
  new_message made;
  made.payload = std::move(payload);
  return made;
}

std::vector<new_message> messages(std::size_t count) {
  return std::vector<new_message>(count, a_message());
}

exception_entry first_failure(message_id id, outcome_kind outcome) {
  exception_entry entry;
  entry.id = id;
  entry.change = at_once(first_run(outcome, retries(3)));
  entry.error = "first failure";
  return entry;
}

exception_settlement later_outcome(const claimed_exception& run,
                                   outcome_kind outcome) {
  exception_settlement settlement;
  settlement.id = run.message.id;
  settlement.token = run.token;
  settlement.change =
    at_once(later_run({run.attempts, run.delays}, outcome, retries(3)));
  settlement.error = "later failure";
  return settlement;
}

attempt_policy retries(int max_retries, int max_delays) {
  attempt_policy policy;
  policy.retry = {max_retries, max_delays, std::chrono::seconds{1},
                  std::chrono::minutes{5}, 2};
  return policy;
}

std::string as_text(const std::vector<history_row>& history) {
  std::string text;
  for (const auto& row : history) {
    text.append(text.empty() ? "" : " ").append(to_string(row.kind));
    text.append(":").append(std::to_string(row.attempt));
  }
  return text;
}

} // namespace sqlstreams::test
