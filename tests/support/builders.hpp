#pragma once
// Values with plain defaults: a test names only what it is about.

#include "storage/store.hpp"

#include <string>
#include <type_traits>
#include <vector>

namespace sqlstreams::test {

/// A JSON message without key.
new_message a_message(std::string payload = R"({"n": 1})");

/// As many of them.
std::vector<new_message> messages(std::size_t count);

/// The messages' first run, each of which may be tried three more times, ended
/// like this; due again at once.
exception_entry first_failure(message_id id,
                              outcome_kind outcome = outcome_kind::retry);

/// The outcome of a claimed exception's run, likewise.
exception_settlement later_outcome(const claimed_exception& run,
                                   outcome_kind outcome);

/// `max_retries` retries on the usual curve.
attempt_policy retries(int max_retries, int max_delays = 0);

/// Returns the ids of messages, produced ones, rows or claimed exceptions.
template <class Row>
std::vector<message_id> ids_of(const std::vector<Row>& rows) {
  std::vector<message_id> all;
  for (const auto& row : rows) {
    if constexpr (std::is_same_v<Row, claimed_exception>)
      all.push_back(row.message.id);
    else
      all.push_back(row.id);
  }
  return all;
}

/// Returns "failure:0 expired:1".
std::string as_text(const std::vector<history_row>& history);

} // namespace sqlstreams::test
