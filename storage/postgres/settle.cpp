// Settling. The protocol is in schema/stream/0004_settle.sql.

#include "config/text_checks.hpp"
#include "storage/idempotency_uuid.hpp"
#include "storage/postgres/microseconds.hpp"
#include "storage/postgres/postgres_session.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

namespace sqlstreams {
namespace {

using nlohmann::json;

constexpr std::chrono::seconds doubt_patience{15};
constexpr std::chrono::milliseconds doubt_pause{100};

void add_change(json& to, const exception_change& change,
                const std::string& error) {
  to["keeps"] = change.keeps_row;
  to["status"] = to_string(change.status);
  to["attempts"] = change.attempts;
  to["delays"] = change.delays;
  to["after"] = microseconds(change.run_after);
  to["history"] = to_string(change.history);
  to["attempt"] = change.history_attempt;
  to["error"] = storable_error_text(error);
}

/// The arguments of settle_N; a token that cannot be one of ours is lost from
/// the start.
struct settle_arguments {
  json ranges = json::array();
  json entries = json::array();
  json successes = json::array();
  json runs = json::array();
  settle_result out; ///< lost parts, known beforehand

  explicit settle_arguments(const settle_request& request) {
    for (const auto& range : request.ranges)
      add(range, request.history);
    for (const auto& run : request.exceptions)
      add(run);
  }

private:
  void add(const range_settlement& range, delivery_log_mode history) {
    if (!is_uuid(range.token)) {
      out.lost_ranges.push_back(range.token);
      return;
    }
    ranges.push_back(
      {{"token", range.token},
       {"resolved_to", range.resolved_to},
       {"surrender", range.rest == unresolved_rest::surrendered}});
    for (const auto& entry : range.exceptions) {
      json one{{"token", range.token},
               {"id", entry.id},
               {"key", entry.message_key},
               {"policy", to_string(entry.policy)}};
      add_change(one, entry.change, entry.error);
      entries.push_back(std::move(one));
    }
    if (history == delivery_log_mode::all) {
      for (const auto id : range.successes)
        successes.push_back({{"token", range.token}, {"id", id}});
    }
  }

  void add(const exception_settlement& run) {
    if (!is_uuid(run.token)) {
      out.lost_exceptions.push_back(run.id);
      return;
    }
    json one{{"token", run.token}, {"id", run.id}};
    add_change(one, run.change, run.error);
    runs.push_back(std::move(one));
  }
};

/// An array as parameter; an empty one is NULL, which the function skips.
class json_parameter {
public:
  explicit json_parameter(const json& from)
    : empty_{from.empty()}, text_{from.dump()} {}
  [[nodiscard]] const char* text() const noexcept {
    return empty_ ? nullptr : text_.c_str();
  }

private:
  bool empty_;
  std::string text_;
};

} // namespace

settle_result postgres_session::settle(const settle_request& request) {
  // $1 group, $2 in doubt, $3 history mode, $4 ranges, $5 first runs,
  // $6 successes, $7 later runs
  static constexpr std::string_view text = R"sql(
    /* settle */
    SELECT {schema}.settle_{stream}($1, $2, $3, $4::jsonb, $5::jsonb,
                                    $6::jsonb, $7::jsonb) AS answer
  )sql";
  settle_arguments given{request};
  const json_parameter ranges{given.ranges}, entries{given.entries},
    successes{given.successes}, runs{given.runs};
  const auto statement = sql(text, request.stream);
  const std::string history{to_string(request.history)};
  const auto attempt = [&](bool in_doubt) {
    return connection_.transact(
      [&](statements& on) {
        const auto rows =
          on.call(statement, request.group, in_doubt, history, ranges.text(),
                  entries.text(), successes.text(), runs.text());
        return json::parse(rows[0]["answer"].c_str());
      },
      code::stream_not_found);
  };
  // After a lost reply the same call is sent again, in doubt: it finds out what
  // landed. It goes on through further losses, until the server answers.
  const auto give_up = std::chrono::steady_clock::now() + doubt_patience;
  bool in_doubt = false;
  for (;;) {
    try {
      const auto answer = attempt(in_doubt);
      auto out = std::move(given.out);
      for (const auto& token : answer.at("lost_ranges"))
        out.lost_ranges.push_back(token.get<lease_token>());
      for (const auto& id : answer.at("lost_runs"))
        out.lost_exceptions.push_back(id.get<message_id>());
      out.committed = answer.at("committed").get<message_id>();
      return out;
    } catch (const error& e) {
      in_doubt = in_doubt || e.recover() == recovery::unknown;
      if (!in_doubt || e.recover() == recovery::permanent)
        throw;
      if (connection_.interrupted()
          || std::chrono::steady_clock::now() >= give_up)
        throw error{code::commit_confirmation_lost, e.detail()};
    }
    std::this_thread::sleep_for(doubt_pause);
  }
}

} // namespace sqlstreams
