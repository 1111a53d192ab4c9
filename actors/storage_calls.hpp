#pragma once
// The one list of what the storage actors answer: request, whether the pool may
// try it again, and the store's function. A new call is a line here (and its
// messages in messages.hpp).

#include "actors/messages.hpp"
#include "actors/retry_schedule.hpp"
#include "storage/store.hpp"

#include <caf/behavior.hpp>

#include <tuple>
#include <utility>

namespace sqlstreams {

template <class Request, class Run>
struct storage_call {
  using request = Request;
  repeatability repeat;
  Run run; ///< (store&, const Request&) -> reply
};

template <class Request, class Run>
constexpr storage_call<Request, Run> on(repeatability repeat, Run run) {
  return {repeat, std::move(run)};
}

// Why what may be repeated:
// - never: their senders poll, and another sender may by then be better placed
//   to claim. Repeating a claim that did happen would also leave a range leased
//   to nobody until it expires.
// - if_not_done: producing twice is two messages. (Asking whether a lost commit
//   happened is the store's own business.)
// - always: reading changes nothing; a declaration that is there already is
//   `unchanged`; settling is guarded by its tokens.
inline constexpr auto storage_calls = std::make_tuple(
  on<register_system_request>(
    repeatability::always,
    [](store& s, const auto&) { return s.register_system(); }),
  on<find_system_request>(
    repeatability::always,
    [](store& s, const auto&) { return system_reply{s.find_system()}; }),
  on<stream_declaration_request>(
    repeatability::always,
    [](store& s, const auto& r) { return s.register_stream(r); }),
  on<find_stream_request>(repeatability::always,
                          [](store& s, const auto& r) {
                            return stream_reply{s.find_stream(r.name)};
                          }),
  on<list_streams_request>(
    repeatability::always,
    [](store& s, const auto&) { return streams_reply{s.list_streams()}; }),
  on<group_declaration_request>(
    repeatability::always,
    [](store& s, const auto& r) { return s.register_group(r); }),
  on<find_group_request>(repeatability::always,
                         [](store& s, const auto& r) {
                           return group_reply{s.find_group(r.stream, r.name)};
                         }),
  on<list_groups_request>(repeatability::always,
                          [](store& s, const auto& r) {
                            return groups_reply{s.list_groups(r.stream)};
                          }),
  on<produce_request>(repeatability::if_not_done,
                      [](store& s, const auto& r) {
                        return produce_reply{s.produce(r.stream, *r.messages)};
                      }),
  on<claim_request>(repeatability::never,
                    [](store& s, const auto& r) { return s.claim(r); }),
  on<reclaim_request>(repeatability::never,
                      [](store& s, const auto& r) { return s.reclaim(r); }),
  on<settle_request>(repeatability::always,
                     [](store& s, const auto& r) { return s.settle(r); }),
  on<exception_claim_request>(
    repeatability::never,
    [](store& s, const auto& r) { return s.claim_exceptions(r); }),
  on<kill_request>(repeatability::never,
                   [](store& s, const auto& r) { return s.kill_exhausted(r); }),
  on<exception_list_request>(repeatability::always,
                             [](store& s, const auto& r) {
                               return exceptions_reply{s.list_exceptions(r)};
                             }),
  on<history_request>(repeatability::always,
                      [](store& s, const auto& r) {
                        return history_reply{
                          s.history(r.stream, r.group, r.id)};
                      }),
  on<read_request>(repeatability::always,
                   [](store& s, const auto& r) { return s.read(r); }),
  on<lag_request>(repeatability::always, [](store& s, const auto& r) {
    return s.lag(r.stream, r.group);
  }));

/// Returns a behavior with a handler for each call, made by `handler_for`, and
/// further handlers.
template <class HandlerFor, class... Others>
caf::behavior storage_behavior(HandlerFor handler_for, Others... others) {
  return std::apply(
    [&](const auto&... calls) {
      return caf::behavior{handler_for(calls)..., std::move(others)...};
    },
    storage_calls);
}

} // namespace sqlstreams
