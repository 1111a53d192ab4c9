#include "config/options_json.hpp"

#include "config/checked_fields.hpp"
#include "config/duration.hpp"
#include "config/error.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <type_traits>
#include <vector>

namespace sqlstreams {

using nlohmann::json;
using std::chrono::nanoseconds;
using instant = std::chrono::system_clock::time_point;

namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw error{code::invalid_option,
              path.empty() ? "the document " + what : path + ": " + what};
}

/// Where a value stands in the document, and how strictly to read it.
struct place {
  std::string path;
  unknown_fields unknown = unknown_fields::refuse;

  [[nodiscard]] place inside(std::string_view field) const {
    return {path.empty() ? std::string(field) : path + "." + std::string(field),
            unknown};
  }
};

std::int64_t read_integer(const json& from, const place& at, std::int64_t low,
                          std::int64_t high) {
  if (!from.is_number_integer())
    refuse(at.path, "is " + from.dump() + ", not a whole number");
  const bool too_large =
    from.is_number_unsigned()
    && from.get<std::uint64_t>()
         > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto value = too_large ? 0 : from.get<std::int64_t>();
  if (too_large || value < low || value > high)
    refuse(at.path, "is " + from.dump() + ", which is out of range");
  return value;
}

// One pair of functions per type of field; `is_unset` says what is left out.

void read(const json& from, const place& at, int& to) {
  to = static_cast<int>(
    read_integer(from, at, 0, std::numeric_limits<int>::max()));
}

void read(const json& from, const place& at, std::int64_t& to) {
  to = read_integer(from, at, 0, std::numeric_limits<std::int64_t>::max());
}

void read(const json& from, const place& at, nanoseconds& to) {
  to = nanoseconds{
    read_integer(from, at, 0, std::numeric_limits<std::int64_t>::max())};
  if (to <= max_duration)
    return;
  if (at.unknown == unknown_fields::refuse)
    refuse(at.path,
           "is " + format_duration(to) + "; accepted: " + duration_cap());
  // What was stored when more was allowed must not stop those who read it.
  to = max_duration;
}

void read(const json& from, const place& at, bool& to) {
  if (!from.is_boolean())
    refuse(at.path, "is " + from.dump() + ", not true or false");
  to = from.get<bool>();
}

instant read_instant(const json& from, const place& at) {
  const nanoseconds since{
    read_integer(from, at, std::numeric_limits<std::int64_t>::min(),
                 std::numeric_limits<std::int64_t>::max())};
  return instant{std::chrono::duration_cast<instant::duration>(since)};
}

json write_instant(instant from) {
  return std::chrono::duration_cast<nanoseconds>(from.time_since_epoch())
    .count();
}

void read(const json& from, const place& at, std::optional<instant>& to) {
  to = read_instant(from, at);
}

std::string read_text(const json& from, const place& at) {
  if (!from.is_string())
    refuse(at.path, "is " + from.dump() + ", not a text");
  return from.get<std::string>();
}

void read(const json& from, const place& at, std::optional<concurrency>& to) {
  to = parse_concurrency(read_text(from, at));
  if (!to)
    refuse(at.path,
           "is " + from.dump() + ", not one of parallel, exclusive, ordered");
}

void read(const json& from, const place& at, delivery_log_mode& to) {
  const auto mode = parse_delivery_log_mode(read_text(from, at));
  if (!mode)
    refuse(at.path, "is " + from.dump() + ", not one of failures, all, off");
  to = *mode;
}

void read(const json& from, const place& at, std::vector<std::string>& to) {
  if (!from.is_array())
    refuse(at.path, "is " + from.dump() + ", not an array of texts");
  to.clear();
  for (const auto& element : from)
    to.push_back(read_text(element, at));
}

void read(const json& from, const place& at, cursor_position& to) {
  const bool keyed = from.is_object() && from.size() == 1;
  if (from == "beginning")
    to = beginning();
  else if (from == "head")
    to = head();
  else if (keyed && from.contains("at_message"))
    to = at_message(read_integer(from["at_message"], at.inside("at_message"), 1,
                                 std::numeric_limits<std::int64_t>::max()));
  else if (keyed && from.contains("at_time"))
    to = at_time(read_instant(from["at_time"], at.inside("at_time")));
  else
    refuse(at.path, "is " + from.dump()
                      + ", not \"beginning\", \"head\", {\"at_message\": ID} "
                        "or {\"at_time\": NANOSECONDS}");
}

template <class T>
json write(const T& from) {
  if constexpr (std::is_same_v<T, nanoseconds>)
    return from.count();
  else if constexpr (std::is_same_v<T, std::optional<concurrency>>)
    return to_string(*from);
  else if constexpr (std::is_same_v<T, std::optional<instant>>)
    return write_instant(*from);
  else if constexpr (std::is_same_v<T, delivery_log_mode>)
    return to_string(from);
  else
    return from;
}

json write(const cursor_position& from) {
  switch (from.where) {
  case cursor_position::kind::beginning: return "beginning";
  case cursor_position::kind::head: return "head";
  case cursor_position::kind::at_message:
    return {{"at_message", from.message_id}};
  case cursor_position::kind::at_time:
    return {{"at_time", write_instant(from.instant)}};
  }
  return "beginning";
}

// The fields of each type, listed once for writing and reading alike.

template <class T>
struct type {};

void visit_fields(type<retry_policy>, auto&& visit) {
  visit("max_retries", &retry_policy::max_retries);
  visit("max_delays", &retry_policy::max_delays);
  visit("base_delay", &retry_policy::base_delay);
  visit("max_delay", &retry_policy::max_delay);
  visit("exponent", &retry_policy::exponent);
}

void visit_fields(type<message_options>, auto&& visit) {
  visit("concurrency", &message_options::concurrency);
  visit("timeout", &message_options::timeout);
  visit("retry", &message_options::retry);
  visit("scheduled_at", &message_options::scheduled_at);
}

void visit_fields(type<consumer_config>, auto&& visit) {
  visit("message", &consumer_config::message);
  visit("message_min", &consumer_config::message_min);
  visit("message_max", &consumer_config::message_max);
  visit("concurrency_override", &consumer_config::concurrency_override);
  visit("start", &consumer_config::start);
  visit("bindings", &consumer_config::bindings);
  visit("exception_initial_backoff",
        &consumer_config::exception_initial_backoff);
  visit("max_range_reclaims", &consumer_config::max_range_reclaims);
  visit("paused", &consumer_config::paused);
}

void visit_fields(type<janitor_config>, auto&& visit) {
  visit("poll_rate", &janitor_config::poll_rate);
  visit("sweep_batch", &janitor_config::sweep_batch);
  visit("cleanup_timeout", &janitor_config::cleanup_timeout);
  visit("partial_sweep_grace", &janitor_config::partial_sweep_grace);
}

void visit_fields(type<vacuum_config>, auto&& visit) {
  visit("poll_rate", &vacuum_config::poll_rate);
  visit("timeout", &vacuum_config::timeout);
  visit("suspended", &vacuum_config::suspended);
}

void visit_fields(type<compaction_config>, auto&& visit) {
  visit("enabled", &compaction_config::enabled);
}

void visit_fields(type<stream_config>, auto&& visit) {
  visit("partition_size", &stream_config::partition_size);
  visit("retention", &stream_config::retention);
  visit("allow_drop_past_committed", &stream_config::allow_drop_past_committed);
  visit("idempotency_key_ttl", &stream_config::idempotency_key_ttl);
  visit("empty_compaction_head_ttl", &stream_config::empty_compaction_head_ttl);
  visit("delivery_log", &stream_config::delivery_log);
  visit("max_payload_bytes", &stream_config::max_payload_bytes);
  visit("janitor", &stream_config::janitor);
  visit("vacuum", &stream_config::vacuum);
  visit("compaction", &stream_config::compaction);
}

template <class T>
concept section = requires {
  visit_fields(type<T>{}, [](auto&&...) {});
};

// Writing --------------------------------------------------------------------

template <section T>
json write_object(const T& from) {
  auto to = json::object();
  visit_fields(type<T>{}, [&](const char* name, auto member) {
    const auto& value = from.*member;
    using field = std::remove_cvref_t<decltype(value)>;
    if (value == T{}.*member)
      return;
    if constexpr (section<field>)
      to[name] = write_object(value);
    else if constexpr (std::is_same_v<field, std::optional<retry_policy>>)
      to[name] = write_object(*value);
    else
      to[name] = write(value);
  });
  return to;
}

// Reading --------------------------------------------------------------------

template <section T>
void read(const json& from, const place& at, T& to);

void read(const json& from, const place& at, std::optional<retry_policy>& to) {
  retry_policy policy;
  read(from, at, policy);
  to = policy;
}

template <section T>
void refuse_unknown_fields(const json& from, const place& at) {
  for (const auto& item : from.items()) {
    bool known = false;
    std::string names;
    visit_fields(type<T>{}, [&](const char* name, auto) {
      known = known || item.key() == name;
      names.append(names.empty() ? "" : ", ").append(name);
    });
    if (!known)
      refuse(at.inside(item.key()).path,
             "is an unknown field; known are " + names);
  }
}

template <section T>
void read(const json& from, const place& at, T& to) {
  if (!from.is_object())
    refuse(at.path, "is " + from.dump() + ", not an object");
  if (at.unknown == unknown_fields::refuse)
    refuse_unknown_fields<T>(from, at);
  to = T{};
  visit_fields(type<T>{}, [&](const char* name, auto member) {
    const auto found = from.find(name);
    if (found != from.end())
      read(*found, at.inside(name), to.*member);
  });
}

template <section T>
T read_text_document(std::string_view text, unknown_fields unknown) {
  const auto document = json::parse(text, nullptr, false);
  if (document.is_discarded())
    refuse("", "is not valid JSON");
  T result;
  read(document, {{}, unknown}, result);
  return result;
}

// Comparing ------------------------------------------------------------------

/// Shows one field's value as a person would write it.
template <class T>
std::string show(const T& value) {
  if constexpr (std::is_same_v<T, nanoseconds>)
    return value.count() == 0 ? "unset" : format_duration(value);
  else if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>)
    return value == 0 ? "unset" : std::to_string(value);
  else if constexpr (requires { value.has_value(); })
    return value ? write(value).dump() : "unset";
  else
    return write(value).dump();
}

template <section T>
void compare(const T& before, const T& after, const std::string& path,
             std::string& to) {
  visit_fields(type<T>{}, [&](const char* name, auto member) {
    const auto& old_value = before.*member;
    const auto& new_value = after.*member;
    using field = std::remove_cvref_t<decltype(old_value)>;
    if constexpr (section<field>) {
      compare(old_value, new_value, path + name + ".", to);
    } else if constexpr (std::is_same_v<field, std::optional<retry_policy>>) {
      compare(old_value.value_or(retry_policy{}),
              new_value.value_or(retry_policy{}), path + name + ".", to);
    } else if (old_value != new_value) {
      to.append(to.empty() ? "" : ", ").append(path).append(name);
      to.append(": ").append(show(old_value)).append(" -> ");
      to.append(show(new_value));
    }
  });
}

template <section T>
std::string changes(const T& before, const T& after) {
  std::string text;
  compare(before, after, {}, text);
  return text;
}

} // namespace

void to_json(json& to, const retry_policy& from) { to = write_object(from); }
void to_json(json& to, const message_options& from) { to = write_object(from); }
void to_json(json& to, const consumer_config& from) { to = write_object(from); }
void to_json(json& to, const stream_config& from) { to = write_object(from); }

void from_json(const json& from, retry_policy& to) { read(from, {}, to); }
void from_json(const json& from, message_options& to) { read(from, {}, to); }
void from_json(const json& from, consumer_config& to) { read(from, {}, to); }
void from_json(const json& from, stream_config& to) { read(from, {}, to); }

std::string to_json_text(const message_options& value) {
  // Most messages ask for nothing.
  return value == message_options{} ? "{}" : write_object(value).dump();
}
std::string to_json_text(const consumer_config& value) {
  return write_object(value).dump();
}
std::string to_json_text(const stream_config& value) {
  return write_object(value).dump();
}

message_options message_options_from_text(std::string_view text,
                                          unknown_fields unknown) {
  return read_text_document<message_options>(text, unknown);
}
consumer_config consumer_config_from_text(std::string_view text,
                                          unknown_fields unknown) {
  return read_text_document<consumer_config>(text, unknown);
}
stream_config stream_config_from_text(std::string_view text,
                                      unknown_fields unknown) {
  return read_text_document<stream_config>(text, unknown);
}

std::string describe_changes(const consumer_config& before,
                             const consumer_config& after) {
  return changes(before, after);
}
std::string describe_changes(const stream_config& before,
                             const stream_config& after) {
  return changes(before, after);
}

} // namespace sqlstreams
