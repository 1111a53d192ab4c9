#include "config/stream_config.hpp"

#include "config/checked_fields.hpp"

namespace sqlstreams {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

std::string_view to_string(delivery_log_mode value) noexcept {
  switch (value) {
  case delivery_log_mode::failures: return "failures";
  case delivery_log_mode::all: return "all";
  case delivery_log_mode::off: return "off";
  }
  return "failures";
}

std::optional<delivery_log_mode>
parse_delivery_log_mode(std::string_view text) noexcept {
  for (auto value : {delivery_log_mode::failures, delivery_log_mode::all,
                     delivery_log_mode::off})
    if (to_string(value) == text)
      return value;
  return std::nullopt;
}

stream_config stream_config::with_defaults() const {
  auto stream = *this;
  set_default(stream.partition_size, std::int64_t{1'000'000});
  set_default(stream.idempotency_key_ttl, nanoseconds{24h});
  set_default(stream.empty_compaction_head_ttl, nanoseconds{1h});
  set_default(stream.max_payload_bytes, std::int64_t{16} << 20);
  set_default(stream.janitor.poll_rate, nanoseconds{5s});
  set_default(stream.janitor.sweep_batch, 1000);
  set_default(stream.janitor.cleanup_timeout, nanoseconds{5s});
  set_default(stream.vacuum.poll_rate, nanoseconds{2min});
  set_default(stream.vacuum.timeout, nanoseconds{1min});
  return stream;
}

std::vector<problem> stream_config::validate() const {
  const auto stream = with_defaults();
  field_checks checks;
  checks.between("partition_size", stream.partition_size, 2,
                 max_partition_size);
  checks.not_negative("retention", stream.retention);
  checks.positive("idempotency_key_ttl", stream.idempotency_key_ttl);
  checks.positive("empty_compaction_head_ttl",
                  stream.empty_compaction_head_ttl);
  checks.between("max_payload_bytes", stream.max_payload_bytes, 1,
                 max_payload_limit);
  checks.positive("janitor.poll_rate", stream.janitor.poll_rate);
  checks.between("janitor.sweep_batch", stream.janitor.sweep_batch, 1,
                 max_count);
  checks.positive("janitor.cleanup_timeout", stream.janitor.cleanup_timeout);
  checks.not_negative("janitor.partial_sweep_grace",
                      stream.janitor.partial_sweep_grace);
  checks.positive("vacuum.poll_rate", stream.vacuum.poll_rate);
  checks.positive("vacuum.timeout", stream.vacuum.timeout);
  return checks.take();
}

} // namespace sqlstreams
