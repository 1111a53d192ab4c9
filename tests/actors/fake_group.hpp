#pragma once
// A consumer group as the session's children see it: a storage actor over a few
// maps that does what the store promises, on the virtual clock, and goes wrong
// on demand. The real stores are checked by their own suite.

#include "actors/error_transport.hpp"
#include "actors/messages.hpp"
#include "tests/support/test_node.hpp"

#include <caf/event_based_actor.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sqlstreams::test {

using namespace std::chrono_literals;

struct fake_group {
  struct lease {
    id_range range;
    std::string holder;
    monotonic_time expires{};
    int reclaims = 0;
    bool surrendered = false;
  };
  struct row {
    exception_status status = exception_status::ready;
    std::int64_t attempts = 0;
    std::int64_t delays = 0;
    monotonic_time run_after{};
    lease_token token{};
    monotonic_time lease_end{};
    std::string error{};
  };

  stream_info stream{1, "orders", {}, {}};
  group_info group{2, 1, "billing", {}, {}};
  bool group_exists = true;

  std::vector<message> log; ///< ids 1, 2, ...
  message_id claimed = 0;
  std::map<lease_token, lease> leases;
  std::map<message_id, row> exceptions;
  std::vector<history_kind> history;
  int last_token = 0;

  // What goes wrong:
  bool silent = false;         ///< nothing is done, nothing answered
  int lost_settles = 0;        ///< so many settles are not done, not answered
  int lost_settle_answers = 0; ///< so many are done and not answered
  std::optional<error> claim_error;
  std::optional<error> settle_error;

  // What was asked:
  int claims = 0;
  int settles = 0;
  std::size_t largest_limit = 0;

  void produce(std::size_t count, const message& like = {}) {
    for (std::size_t i = 0; i < count; ++i) {
      log.push_back(like);
      log.back().id = static_cast<message_id>(log.size());
      if (log.back().payload.empty())
        log.back().payload = "{}";
    }
  }

  [[nodiscard]] message_id committed() const {
    auto result = claimed;
    for (const auto& [token, lease] : leases)
      result = std::min(result, lease.range.low);
    for (const auto& [id, row] : exceptions)
      if (row.status != exception_status::dead)
        result = std::min(result, id - 1);
    return result;
  }

  lease_token fresh_token() { return "t" + std::to_string(++last_token); }

  claimed_range hand_out(const lease_token& token, const lease& from) const {
    claimed_range result;
    result.token = token;
    result.range = from.range;
    result.reclaims = from.reclaims;
    for (auto id = from.range.low + 1; id <= from.range.high; ++id)
      result.messages.push_back(log.at(static_cast<std::size_t>(id - 1)));
    return result;
  }

  claim_result claim(const claim_request& request, monotonic_time now) {
    ++claims;
    largest_limit = std::max(largest_limit, request.limit);
    claim_result result;
    result.paused = group.config.paused;
    const auto head = static_cast<message_id>(log.size());
    if (result.paused || claimed == head)
      return result;
    lease taken;
    taken.range.low = claimed;
    taken.range.high =
      std::min(head, claimed + static_cast<message_id>(request.limit));
    taken.holder = request.holder;
    taken.expires = now + request.lease;
    claimed = taken.range.high;
    const auto token = fresh_token();
    leases[token] = taken;
    result.claimed = hand_out(token, taken);
    result.more = claimed < head;
    return result;
  }

  reclaim_result reclaim(const reclaim_request& request, monotonic_time now) {
    reclaim_result result;
    for (auto found = leases.begin();
         found != leases.end() && result.reclaimed.size() < request.limit;) {
      if (found->second.expires > now) {
        ++found;
        continue;
      }
      auto taken = found->second;
      found = leases.erase(found);
      if (!taken.surrendered)
        ++taken.reclaims;
      if (taken.reclaims > request.max_range_reclaims) {
        quarantine(taken, now);
        result.quarantined.push_back({taken.range, 1, taken.holder});
        continue;
      }
      reclaimed_range given;
      given.previous_holder = taken.holder;
      given.surrendered = taken.surrendered;
      taken.surrendered = false;
      taken.holder = request.holder;
      taken.expires = now + request.lease;
      const auto token = fresh_token();
      leases[token] = taken;
      given.claimed = hand_out(token, taken);
      result.reclaimed.push_back(std::move(given));
      break; // leases changed
    }
    return result;
  }

  void quarantine(const lease& from, monotonic_time now) {
    for (auto id = from.range.low + 1; id <= from.range.high; ++id)
      exceptions[id].run_after = now;
  }

  void change(message_id id, const exception_change& what,
              const std::string& error, monotonic_time now) {
    history.push_back(what.history);
    if (!what.keeps_row) {
      exceptions.erase(id);
      return;
    }
    exceptions[id] = {
      what.status, what.attempts, what.delays, now + what.run_after, {},
      {},          error};
  }

  settle_result settle(const settle_request& request, monotonic_time now) {
    ++settles;
    settle_result result;
    for (const auto& part : request.ranges) {
      const auto found = leases.find(part.token);
      if (found == leases.end()) {
        result.lost_ranges.push_back(part.token);
        continue;
      }
      for (const auto& entry : part.exceptions)
        change(entry.id, entry.change, entry.error, now);
      auto& lease = found->second;
      if (part.resolved_to > lease.range.low)
        lease.reclaims = 0;
      lease.range.low = part.resolved_to;
      if (part.rest == unresolved_rest::surrendered) {
        lease.expires = now;
        lease.surrendered = true;
      }
      if (lease.range.empty())
        leases.erase(found);
    }
    for (const auto& part : request.exceptions) {
      const auto found = exceptions.find(part.id);
      if (found == exceptions.end() || found->second.token != part.token)
        result.lost_exceptions.push_back(part.id);
      else
        change(part.id, part.change, part.error, now);
    }
    result.committed = committed();
    return result;
  }

  exception_claim_result
  claim_exceptions(const exception_claim_request& request, monotonic_time now) {
    exception_claim_result result;
    for (auto& [id, row] : exceptions) {
      const bool waits = row.status == exception_status::ready
                         || row.status == exception_status::deferred;
      if (result.claimed.size() == request.limit || !waits
          || row.run_after > now)
        continue;
      row.status = exception_status::inflight;
      row.token = fresh_token();
      row.lease_end = now + request.lease;
      result.claimed.push_back({row.token, row.attempts, row.delays,
                                log.at(static_cast<std::size_t>(id - 1))});
    }
    return result;
  }
};

using fake_group_ptr = std::shared_ptr<fake_group>;

template <class Reply>
caf::result<Reply> no_answer(caf::event_based_actor* self) {
  self->make_response_promise(); // dropped: nobody answers
  return caf::delegated<Reply>{};
}

inline caf::behavior fake_storage(caf::event_based_actor* self,
                                  fake_group_ptr group) {
  const auto now = [=] {
    return self->clock().now();
  };
  return {
    [=](const claim_request& request) -> caf::result<claim_result> {
      if (group->silent)
        return no_answer<claim_result>(self);
      if (group->claim_error)
        return to_caf_error(*group->claim_error);
      return group->claim(request, now());
    },
    [=](const reclaim_request& request) -> caf::result<reclaim_result> {
      if (group->silent)
        return no_answer<reclaim_result>(self);
      return group->reclaim(request, now());
    },
    [=](const settle_request& request) -> caf::result<settle_result> {
      if (group->silent)
        return no_answer<settle_result>(self);
      if (group->settle_error)
        return to_caf_error(*group->settle_error);
      if (group->lost_settles > 0) {
        --group->lost_settles;
        return no_answer<settle_result>(self);
      }
      auto result = group->settle(request, now());
      if (group->lost_settle_answers > 0) {
        --group->lost_settle_answers;
        return no_answer<settle_result>(self);
      }
      return result;
    },
    [=](const exception_claim_request& request)
      -> caf::result<exception_claim_result> {
      if (group->silent)
        return no_answer<exception_claim_result>(self);
      return group->claim_exceptions(request, now());
    },
    [=](const kill_request&) -> caf::result<kill_result> {
      if (group->silent)
        return no_answer<kill_result>(self);
      return kill_result{};
    },
    [=](const find_group_request&) -> caf::result<group_reply> {
      if (group->silent)
        return no_answer<group_reply>(self);
      return group->group_exists ? group_reply{group->group} : group_reply{};
    },
  };
}

} // namespace sqlstreams::test
