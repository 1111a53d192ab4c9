#include "config/names.hpp"
#include "config/options_json.hpp"
#include "storage/memory/memory_session.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

/// Where a new group's cursor stands: everything up to it is left out.
message_id place(const memory_stream& stream, const cursor_position& start) {
  switch (start.where) {
  case cursor_position::kind::beginning: return stream.first_retained - 1;
  case cursor_position::kind::head: return stream.top;
  case cursor_position::kind::at_message:
    return std::max<message_id>(start.message_id - 1, 0);
  case cursor_position::kind::at_time: break;
  }
  for (auto id = stream.first_retained; id <= stream.top; ++id)
    if (const auto* one = stream.find(id);
        one && one->created_at >= start.instant)
      return id - 1;
  return stream.top;
}

binding_effect describe_bindings(std::vector<std::string> before,
                                 std::vector<std::string> declared) {
  std::sort(before.begin(), before.end());
  std::sort(declared.begin(), declared.end());
  if (before != declared)
    return binding_effect::installed;
  return declared.empty() ? binding_effect::none : binding_effect::joined;
}

} // namespace

system_registration memory_session::register_system() {
  const auto effect = state_->registered ? registration_effect::unchanged
                                         : registration_effect::created;
  state_->registered = true;
  return {effect, {1}};
}

std::optional<system_info> memory_session::find_system() {
  if (!state_->registered)
    return std::nullopt;
  return system_info{1};
}

stream_registration
memory_session::register_stream(const stream_declaration_request& request) {
  validate_name(name_kind::stream, request.name);
  validate_or_throw(request.config, "stream " + request.name);
  if (!state_->registered)
    throw error{code::system_not_registered};
  auto [found, is_new] = state_->streams.try_emplace(request.name);
  auto& info = found->second.info;
  if (is_new) {
    info = {static_cast<stream_id>(state_->streams.size()), request.name,
            request.config, state_->now()};
    state_->stream_numbers[info.id] = &found->second;
    return {registration_effect::created, info, {}};
  }
  const auto stored = info.config.with_defaults().partition_size;
  const auto wanted = request.config.with_defaults().partition_size;
  if (stored != wanted)
    throw error{code::partition_size_differs,
                "stream \"" + request.name + "\" has partition_size "
                  + std::to_string(stored) + ", declared is "
                  + std::to_string(wanted)};
  if (info.config == request.config)
    return {registration_effect::unchanged, info, {}};
  const auto changes = describe_changes(info.config, request.config);
  info.config = request.config;
  return {registration_effect::updated, info, changes};
}

std::optional<stream_info> memory_session::find_stream(std::string_view name) {
  const auto found = state_->streams.find(name);
  if (found == state_->streams.end())
    return std::nullopt;
  return found->second.info;
}

std::vector<stream_info> memory_session::list_streams() {
  std::vector<stream_info> all;
  for (const auto& one : state_->streams)
    all.push_back(one.second.info);
  return all;
}

group_registration
memory_session::register_group(const group_declaration_request& request) {
  validate_name(name_kind::group, request.name);
  validate_or_throw(request.config, "group " + request.name);
  auto& stream = state_->stream(request.stream);
  auto [found, is_new] = stream.groups.try_emplace(request.name);
  auto& group = found->second;
  const auto bindings =
    describe_bindings(group.info.config.bindings, request.config.bindings);
  if (is_new) {
    const auto id = static_cast<group_id>(state_->group_numbers.size()) + 1;
    group.info = {id, request.stream, request.name, request.config,
                  state_->now()};
    state_->group_numbers[id] = &group;
    group.claimed = group.committed = place(stream, request.config.start);
    return {registration_effect::created, bindings, group.info, {}};
  }
  if (group.info.config == request.config)
    return {registration_effect::unchanged, bindings, group.info, {}};
  const auto changes = describe_changes(group.info.config, request.config);
  group.info.config = request.config;
  return {registration_effect::updated, bindings, group.info, changes};
}

std::optional<group_info> memory_session::find_group(stream_id stream,
                                                     std::string_view name) {
  const auto& groups = state_->stream(stream).groups;
  const auto found = groups.find(name);
  if (found == groups.end())
    return std::nullopt;
  return found->second.info;
}

std::vector<group_info> memory_session::list_groups(stream_id stream) {
  std::vector<group_info> all;
  for (const auto& one : state_->stream(stream).groups)
    all.push_back(one.second.info);
  return all;
}

} // namespace sqlstreams
