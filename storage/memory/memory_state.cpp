#include "storage/memory/memory_state.hpp"

#include "config/error.hpp"
#include "storage/binding.hpp"

#include <algorithm>

namespace sqlstreams {

memory_exception* memory_exceptions::find(message_id id) {
  const auto found = rows_.find(id);
  return found == rows_.end() ? nullptr : &found->second;
}

void memory_exceptions::put(memory_exception entry) {
  const auto id = entry.row.id;
  if (entry.row.status == exception_status::dead)
    unresolved_.erase(id);
  else
    unresolved_.insert(id);
  rows_.insert_or_assign(id, std::move(entry));
}

void memory_exceptions::erase(message_id id) {
  rows_.erase(id);
  unresolved_.erase(id);
}

memory_slot* memory_stream::slot(message_id id) {
  return id < first_retained || id > drawn()
           ? nullptr
           : &log[static_cast<std::size_t>(id - first_retained)];
}

const message* memory_stream::find(message_id id) const {
  if (id < first_retained || id > drawn())
    return nullptr;
  const auto& one = log[static_cast<std::size_t>(id - first_retained)];
  return one.visible ? &one.message : nullptr;
}

message_id memory_stream::drawn() const {
  return first_retained - 1 + static_cast<message_id>(log.size());
}

message_id memory_stream::run_end(message_id start, std::size_t most) const {
  auto end = start;
  while (static_cast<std::size_t>(end - start) < most && find(end + 1))
    ++end;
  return end;
}

std::set<std::string> memory_stream::producers() const {
  std::set<std::string> names;
  for (const auto& open : transactions)
    names.insert(std::to_string(open.first));
  return names;
}

lease_token memory_state::draw_token() {
  // Shaped as the uuids that PostgreSQL makes.
  static constexpr std::string_view digits = "0123456789abcdef";
  lease_token token;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20)
      token += '-';
    token += digits[random() % 16];
  }
  return token;
}

memory_stream& memory_state::stream(stream_id id) {
  const auto found = stream_numbers.find(id);
  if (found == stream_numbers.end())
    throw error{code::stream_not_found,
                "stream " + std::to_string(id) + " is not registered"};
  return *found->second;
}

memory_group& memory_state::group(stream_id stream_number, group_id id) {
  const auto found = group_numbers.find(id);
  if (found == group_numbers.end()
      || found->second->info.stream != stream_number)
    throw error{code::group_not_found, "consumer group " + std::to_string(id)
                                         + " is not registered in stream "
                                         + std::to_string(stream_number)};
  return *found->second;
}

void advance_committed(memory_group& group) {
  auto mark = group.claimed;
  for (const auto& lease : group.leases)
    mark = std::min(mark, lease.second.range.low);
  if (!group.exceptions.unresolved().empty())
    mark = std::min(mark, *group.exceptions.unresolved().begin() - 1);
  group.committed = std::max(group.committed, mark);
}

void log_delivery(memory_group& group, delivery_log_mode mode,
                  history_row line) {
  if (mode == delivery_log_mode::off
      || (mode == delivery_log_mode::failures
          && line.kind == history_kind::success))
    return;
  group.history[line.id].push_back(std::move(line));
}

std::vector<message> read_range(const memory_stream& stream,
                                const memory_group& group, id_range range,
                                int schema_version) {
  const auto& bindings = group.info.config.bindings;
  std::vector<message> all;
  for (auto id = range.low + 1; id <= range.high; ++id)
    if (const auto* one = stream.find(id);
        one && one->schema_version == schema_version
        && matches_bindings(bindings, one->routing_key))
      all.push_back(*one);
  return all;
}

timestamp later(timestamp start, std::chrono::nanoseconds wait) {
  const auto whole =
    std::chrono::duration_cast<std::chrono::microseconds>(wait);
  return whole > timestamp::max() - start ? timestamp::max() : start + whole;
}

} // namespace sqlstreams
