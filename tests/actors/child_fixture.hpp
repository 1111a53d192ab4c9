#pragma once
// A child of a consumer session between a session that takes notes and a
// storage that answers when told to.

#include "actors/messages.hpp"
#include "actors/session_child.hpp"
#include "tests/support/test_node.hpp"

#include <caf/event_based_actor.hpp>

#include <memory>
#include <tuple>
#include <vector>

namespace sqlstreams::test {

using namespace std::chrono_literals;

/// @tparam Request to the storage
/// @tparam Heard by the session, beside session_failed
template <class Request, class... Heard>
class child_fixture {
  struct notes {
    std::tuple<std::vector<Heard>...> heard;
    std::vector<code> failures;
  };
  // First of all: the session writes into it.
  std::shared_ptr<notes> notes_ = std::make_shared<notes>();

public:
  test_system node;
  scripted_actor<Request> storage{node};
  caf::actor session = node.own(node.system().spawn(
    [notes = notes_](caf::event_based_actor*) -> caf::behavior {
      return {
        [=](const session_failed& what) {
          notes->failures.push_back(what.why->number());
        },
        [=](const Heard& what) {
          std::get<std::vector<Heard>>(notes->heard).push_back(what);
        }...,
      };
    }));

  session_child_args args() {
    session_child_args result;
    result.session = session;
    result.storage = storage.handle();
    result.stream = "orders";
    result.group = std::make_shared<const group_info>(
      group_info{2, 1, "billing", consumer_config{}.with_defaults(), {}});
    result.options = consume_options{}.with_defaults();
    result.holder = "a";
    return result;
  }

  template <class Actor>
  caf::actor start(Actor actor) {
    auto child = node.own(node.system().spawn(actor, args()));
    node.run();
    return child;
  }

  template <class Message>
  const std::vector<Message>& heard() const {
    return std::get<std::vector<Message>>(notes_->heard);
  }
  const std::vector<code>& failures() const { return notes_->failures; }
};

} // namespace sqlstreams::test
