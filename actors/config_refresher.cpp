#include "actors/config_refresher.hpp"

#include "actors/error_transport.hpp"
#include "actors/log.hpp"

#include <caf/event_based_actor.hpp>

namespace sqlstreams {

namespace {

/// refresher -> itself.
struct refresh_due {};

} // namespace

} // namespace sqlstreams

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sqlstreams::refresh_due)

namespace sqlstreams {

namespace {

using refresher_ptr = caf::stateful_actor<config_refresher_state>*;
using args_ptr = std::shared_ptr<const session_child_args>;

void refresh_later(refresher_ptr self, const session_child_args& args) {
  self->delayed_send(
    self, with_jitter(args.options.config_refresh_interval, self->state.random),
    refresh_due{});
}

void take(refresher_ptr self, const session_child_args& args,
          const group_reply& reply) {
  auto& state = self->state;
  state.failing = false;
  // A group that was removed and declared again is another one: its cursor is.
  if (!reply.group || reply.group->id != state.group->id)
    return fail_session(
      self, args.session,
      error{code::group_not_found, "group " + state.group->name + " of stream "
                                     + args.stream + " was removed"});
  auto fresh = *reply.group;
  fresh.config = fresh.config.with_defaults();
  if (fresh.config != state.group->config) {
    state.group = std::make_shared<const group_info>(std::move(fresh));
    self->send(args.session, group_changed{state.group});
  }
  refresh_later(self, args);
}

void refresh_went_wrong(refresher_ptr self, const session_child_args& args,
                        const error& why) {
  // Whatever it is, the claims meet it as well and decide about it.
  if (!self->state.failing)
    log_event(code::group_config_not_reread, log_level::warning,
              "the group's settings could not be read again; the known ones "
              "stay in force",
              {field("stream", args.stream),
               field("group", self->state.group->name),
               field("error", why.what())});
  self->state.failing = true;
  refresh_later(self, args);
}

void refresh(refresher_ptr self, const args_ptr& args) {
  const auto& group = *self->state.group;
  self
    ->request(args->storage, args->options.config_refresh_interval,
              find_group_request{group.stream, group.name})
    .then([=](const group_reply& reply) { take(self, *args, reply); },
          [=](const caf::error& e) {
            refresh_went_wrong(self, *args, from_caf_error(e));
          });
}

} // namespace

caf::behavior config_refresher(refresher_ptr self, session_child_args given) {
  const auto args =
    std::make_shared<const session_child_args>(std::move(given));
  self->state.random.seed(args->seed);
  self->state.group = args->group;
  refresh_later(self, *args);
  return {
    // from itself
    [=](refresh_due) { refresh(self, args); },
  };
}

} // namespace sqlstreams
