#include "config/configuration_options.hpp"

#include "config/checked_fields.hpp"
#include "config/value_kinds.hpp"

namespace sqlstreams {

namespace {

using retry = retry_policy;
using consume = consume_options;
using consumer = consumer_config;
using stream = stream_config;

const option_table<retry> retry_options{
  field("max_retries", &retry::max_retries, count(1, max_count)),
  field("max_delays", &retry::max_delays, count(0, max_count)),
  field("base_delay", &retry::base_delay, span()),
  field("max_delay", &retry::max_delay, span()),
  field("exponent", &retry::exponent, count(1, max_count)),
};

const option_table<message_options> message_option_table{
  field("concurrency", &message_options::concurrency, policy()),
  field("timeout", &message_options::timeout, span()),
  section("retry", &message_options::retry, retry_options),
};

const option_table<consumer> consumer_options{
  section("message", &consumer::message, message_option_table),
  section("message_min", &consumer::message_min, message_option_table),
  section("message_max", &consumer::message_max, message_option_table),
  field("concurrency_override", &consumer::concurrency_override, policy()),
  field("start", &consumer::start, start_position()),
  field("bindings", &consumer::bindings, patterns()),
  field("exception_initial_backoff", &consumer::exception_initial_backoff,
        span()),
  field("max_range_reclaims", &consumer::max_range_reclaims,
        count(1, max_count)),
  field("paused", &consumer::paused, flag()),
};

const option_table<consume> consume_table{
  field("batch_limit", &consume::batch_limit, count(0, max_batch)),
  field("batch_max", &consume::batch_max, count(1, max_batch)),
  field("queue_size", &consume::queue_size, count(0, max_count)),
  field("queue_bytes", &consume::queue_bytes, amount(1, INT64_MAX)),
  field("message_concurrency", &consume::message_concurrency,
        count(1, max_handlers)),
  field("exception_concurrency", &consume::exception_concurrency,
        count(1, max_handlers)),
  field("claim_poll_rate", &consume::claim_poll_rate, span()),
  field("queue_margin", &consume::queue_margin, span()),
  field("record_margin", &consume::record_margin, span()),
  field("timeout_grace", &consume::timeout_grace, span()),
  field("slow_dispatch_threshold", &consume::slow_dispatch_threshold,
        span_or_zero("never reported")),
  field("instance_ttl", &consume::instance_ttl, span()),
  field("binding_retry_interval", &consume::binding_retry_interval, span()),
  field("config_refresh_interval", &consume::config_refresh_interval, span()),
  field("shutdown_timeout", &consume::shutdown_timeout,
        span_or_zero("message_max.timeout and the margins")),
};

const option_table<janitor_config> janitor_options{
  field("poll_rate", &janitor_config::poll_rate, span()),
  field("sweep_batch", &janitor_config::sweep_batch, count(1, max_count)),
  field("cleanup_timeout", &janitor_config::cleanup_timeout, span()),
  field("partial_sweep_grace", &janitor_config::partial_sweep_grace,
        span_or_zero("none")),
};

const option_table<vacuum_config> vacuum_options{
  field("poll_rate", &vacuum_config::poll_rate, span()),
  field("timeout", &vacuum_config::timeout, span()),
  field("suspended", &vacuum_config::suspended, flag()),
};

const option_table<compaction_config> compaction_options{
  field("enabled", &compaction_config::enabled, flag()),
};

const option_table<stream> stream_config_options{
  field("partition_size", &stream::partition_size,
        amount(2, max_partition_size)),
  field("retention", &stream::retention, span_or_zero("for ever")),
  field("allow_drop_past_committed", &stream::allow_drop_past_committed,
        flag()),
  field("idempotency_key_ttl", &stream::idempotency_key_ttl, span()),
  field("empty_compaction_head_ttl", &stream::empty_compaction_head_ttl,
        span()),
  field("delivery_log", &stream::delivery_log, history_mode()),
  field("max_payload_bytes", &stream::max_payload_bytes,
        amount(1, max_payload_limit)),
  section("janitor", &stream::janitor, janitor_options),
  section("vacuum", &stream::vacuum, vacuum_options),
  section("compaction", &stream::compaction, compaction_options),
};

const option_table<batch_config> batch_options{
  field("max_size", &batch_config::max_size, count(1, max_batch)),
  field("concurrency_limit", &batch_config::concurrency_limit, count(1, 1000)),
  field("attempt_timeout", &batch_config::attempt_timeout, span()),
  field("shutdown_grace", &batch_config::shutdown_grace,
        span_or_negative("do not wait")),
};

const option_table<producer_config> producer_options{
  section("message", &producer_config::message, message_option_table),
  section("batch", &producer_config::batch, batch_options),
  field("slow_produce_threshold", &producer_config::slow_produce_threshold,
        span_or_zero("never reported")),
  field("max_waiting", &producer_config::max_waiting, count(1, max_count)),
};

std::vector<known_key> make_known_keys() {
  auto streams = known_keys(stream_options());
  streams.push_back({"groups", {{"GROUP", known_keys(group_options())}}});
  return {{"database", known_keys(database_options())},
          {"node", known_keys(node_options())},
          {"streams", {{"NAME", std::move(streams)}}}};
}

} // namespace

const option_table<database_config>& database_options() {
  static const option_table<database_config> options{
    field("url", &database_config::url, address()),
    field("schema", &database_config::schema, schema_name()),
    field("max_connections", &database_config::max_connections, count(1, 1000)),
    section("retry", &database_config::retry, retry_options),
  };
  return options;
}

const option_table<node_config>& node_options() {
  static const option_table<node_config> options{
    field("name", &node_config::name, node_name()),
    field("on_session_end", &node_config::on_session_end, session_end()),
  };
  return options;
}

const option_table<consume_options>& consume_option_table() {
  return consume_table;
}

const option_table<stream_declaration>& stream_options() {
  static const auto options = [] {
    option_table<stream_declaration> all;
    add_flat(all, &stream_declaration::config, stream_config_options);
    all.push_back(
      section("producer", &stream_declaration::producer, producer_options));
    return all;
  }();
  return options;
}

const option_table<group_declaration>& group_options() {
  static const auto options = [] {
    option_table<group_declaration> all;
    add_flat(all, &group_declaration::config, consumer_options);
    all.push_back(
      section("consume", &group_declaration::consume, consume_table));
    all.push_back(field("handler", &group_declaration::handler, handler()));
    all.back().inner = handler_keys();
    all.push_back(field("schema_version", &group_declaration::schema_version,
                        count(1, max_count)));
    return all;
  }();
  return options;
}

const std::vector<known_key>& all_known_keys() {
  static const auto keys = make_known_keys();
  return keys;
}

} // namespace sqlstreams
