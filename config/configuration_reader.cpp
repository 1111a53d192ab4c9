#include "config/configuration_reader.hpp"

#include "config/configuration_options.hpp"
#include "config/names.hpp"

namespace sqlstreams {

namespace {

/// Where a dotted field stands, or the innermost section around it that does.
struct located {
  text_position at;
  bool exact = false;
};

located locate(const toml_entry& section, std::string_view field) {
  located result{section.key_at, false};
  const auto* here = &section;
  while (here) {
    const auto dot = field.find('.');
    const auto* next = here->value.find(field.substr(0, dot));
    if (!next)
      return result;
    const bool last = dot == std::string_view::npos;
    result = {last ? next->value.at : next->key_at, last};
    if (last)
      return result;
    field.remove_prefix(dot + 1);
    here = next;
  }
  return result;
}

/// Reports what a validate() found, at the position of the field in the file.
void report(const std::vector<problem>& problems, const toml_entry& section,
            const scope& at) {
  for (const auto& one : problems) {
    const auto path = at.path + "." + one.field;
    const auto other = at.path + "." + one.other_field;
    // A value that could not be read counts as its default: what follows from
    // that is nobody's mistake.
    if (at.log.mentions(path) || at.log.mentions(other))
      continue;
    auto place = locate(section, one.field);
    if (!place.exact && !one.other_field.empty()) {
      const auto second = locate(section, one.other_field);
      place = second.exact ? second : place;
    }
    at.log.add(place.at, path, one.what, one.accepted);
  }
}

/// Whether an entry is a table; reports it if not.
bool is_table(const toml_entry& entry, const scope& at,
              std::string_view accepted) {
  if (entry.value.type == toml_node::kind::table)
    return true;
  at.log.add(entry.value.at, at.key_path(entry.key),
             "is " + describe(entry.value), std::string(accepted));
  return false;
}

void check_entry_name(name_kind kind, const toml_entry& entry,
                      const scope& at) {
  if (const auto wrong = check_name(kind, entry.key))
    at.log.add(entry.key_at, at.key_path(entry.key), wrong->detail(),
               "1 to 200 bytes of a-z, 0-9, '.', '_' and '-'; no "
                 + std::string(reserved_prefix) + " in front");
}

group_declaration read_group(const toml_entry& entry, const scope& groups) {
  check_entry_name(name_kind::group, entry, groups);
  const auto here = groups.inside(entry.key);
  group_declaration group;
  group.name = entry.key;
  read_section(entry, group, here, group_options());
  report(group.config.validate(), entry, here);
  std::vector<problem> consume;
  append_under(consume, "consume", group.consume.validate());
  report(consume, entry, here);
  return group;
}

/// Reads the groups of a stream, which are no option of its.
void read_groups(const toml_entry& entry, stream_declaration& stream,
                 const scope& at) {
  if (!is_table(entry, at, "tables [streams.NAME.groups.GROUP]"))
    return;
  for (const auto& group : entry.value.entries)
    stream.groups.push_back(read_group(group, at.inside("groups")));
}

stream_declaration read_stream(const toml_entry& entry, const scope& streams,
                               const retry_policy& database) {
  check_entry_name(name_kind::stream, entry, streams);
  const auto here = streams.inside(entry.key);
  stream_declaration stream;
  stream.name = entry.key;
  auto options = stream_options();
  options.push_back({"groups", read_groups, {}});
  read_section(entry, stream, here, options);
  report(stream.config.validate(), entry, here);
  std::vector<problem> producer;
  if (stream.producer)
    append_under(producer, "producer", stream.producer->validate(database));
  report(producer, entry, here);
  return stream;
}

void read_database(const toml_entry& entry, configuration& to,
                   const scope& at) {
  const auto here = at.inside(entry.key);
  read_section(entry, to.database, here, database_options());
  std::vector<problem> problems;
  append_under(problems, "retry",
               to.database.retry.validate(retry_job::database));
  report(problems, entry, here);
}

void read_node(const toml_entry& entry, configuration& to, const scope& at) {
  read_section(entry, to.node, at.inside(entry.key), node_options());
}

void read_streams(const toml_entry& entry, configuration& to, const scope& at) {
  if (!is_table(entry, at, "tables [streams.NAME]"))
    return;
  // The database section may stand anywhere in the file, but comes first here
  // since keys are sorted.
  for (const auto& stream : entry.value.entries)
    to.streams.push_back(
      read_stream(stream, at.inside("streams"), to.database.retry));
}

void refuse_schedules(const toml_entry& entry, configuration&,
                      const scope& at) {
  at.log.add(entry.key_at, at.key_path(entry.key),
             "sections of schedules are not supported by this build",
             "database, node, streams");
}

} // namespace

configuration read_tree(const toml_node& root, findings_log& log) {
  configuration result;
  const option_table<configuration> sections{
    {"database", read_database, {}},
    {"node", read_node, {}},
    {"streams", read_streams, {}},
    {"schedules", refuse_schedules, {}, {}, false},
  };
  read_section({"", {1, 1}, root}, result, {log, {}}, sections);
  return result;
}

} // namespace sqlstreams
