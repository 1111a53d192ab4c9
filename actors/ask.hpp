#pragma once
// Asking an actor from code that is none.

#include "actors/error_transport.hpp"
#include "actors/milliseconds.hpp"
#include "config/error.hpp"

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>
#include <caf/duration.hpp>
#include <caf/event_based_actor.hpp>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <utility>

namespace sqlstreams {

/// Sends a request and calls one of the functions with what comes back, on a
/// thread of the system; neither may throw or block. Thread-safe.
/// @param deadline how long the callee may take; `caf::infinite` only for a
///   callee that surely answers or ends, where it saves a timer
/// @param on_reply takes a `Reply&`
/// @param on_error takes a `const error&`: what the callee answered, no_answer
///   (the deadline passed; it may have been done), actor_failed
template <class Reply, class Request, class OnReply, class OnError>
void ask_then(caf::actor_system& system, const caf::actor& whom,
              Request request, caf::duration deadline, OnReply on_reply,
              OnError on_error) {
  // An actor of its own for each question: cheap, and gone with the answer.
  auto ask_it = [=, question = std::make_shared<Request>(std::move(request))](
                  caf::event_based_actor* self) {
    self->request(whom, deadline, std::move(*question))
      .then([on_reply](Reply& reply) { on_reply(reply); },
            [on_error](const caf::error& e) { on_error(from_caf_error(e)); });
  };
  system.spawn(std::move(ask_it));
}

/// Sends a request; the future holds the reply or throws the `error` that came
/// instead. Thread-safe.
template <class Reply, class Request>
std::future<Reply> ask_async(caf::actor_system& system, const caf::actor& whom,
                             Request request, caf::duration deadline) {
  auto promise = std::make_shared<std::promise<Reply>>();
  auto future = promise->get_future();
  ask_then<Reply>(
    system, whom, std::move(request), deadline,
    [promise](Reply& reply) { promise->set_value(std::move(reply)); },
    [promise](const error& e) {
      promise->set_exception(std::make_exception_ptr(e));
    });
  return future;
}

/// Sends a request and waits for the reply. Not for use in an actor: it blocks.
/// @throws error what the callee answered; no_answer after the deadline;
///   actor_failed if the callee has ended
template <class Reply, class Request>
Reply ask(caf::actor_system& system, const caf::actor& whom, Request request,
          std::chrono::nanoseconds deadline) {
  return ask_async<Reply>(system, whom, std::move(request),
                          caf::duration{milliseconds_for(deadline)})
    .get();
}

} // namespace sqlstreams
