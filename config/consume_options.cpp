#include "config/consume_options.hpp"

#include "config/checked_fields.hpp"

#include <algorithm>

namespace sqlstreams {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

consume_options consume_options::with_defaults() const {
  auto options = *this;
  set_default(options.batch_max, 1000);
  set_default(options.queue_bytes, std::int64_t{64} << 20);
  set_default(options.message_concurrency, 1);
  set_default(options.exception_concurrency, 1);
  set_default(options.claim_poll_rate, nanoseconds{500ms});
  set_default(options.queue_margin, nanoseconds{15s});
  set_default(options.record_margin, nanoseconds{2s});
  set_default(options.timeout_grace, nanoseconds{100ms});
  set_default(options.instance_ttl, nanoseconds{30s});
  set_default(options.binding_retry_interval, nanoseconds{10s});
  set_default(options.config_refresh_interval, nanoseconds{30s});
  return options;
}

std::vector<problem> consume_options::validate() const {
  const auto options = with_defaults();
  field_checks checks;
  checks.between("batch_limit", options.batch_limit, 0, max_batch);
  checks.between("batch_max", options.batch_max, 1, max_batch);
  checks.between("queue_size", options.queue_size, 0, max_count);
  checks.between("queue_bytes", options.queue_bytes, 1, INT64_MAX);
  checks.between("message_concurrency", options.message_concurrency, 1,
                 max_handlers);
  checks.between("exception_concurrency", options.exception_concurrency, 1,
                 max_handlers);
  checks.positive("claim_poll_rate", options.claim_poll_rate);
  checks.positive("queue_margin", options.queue_margin);
  checks.positive("record_margin", options.record_margin);
  checks.positive("timeout_grace", options.timeout_grace);
  checks.not_negative("slow_dispatch_threshold",
                      options.slow_dispatch_threshold);
  checks.positive("instance_ttl", options.instance_ttl);
  checks.positive("binding_retry_interval", options.binding_retry_interval);
  checks.positive("config_refresh_interval", options.config_refresh_interval);
  checks.not_negative("shutdown_timeout", options.shutdown_timeout);
  if (options.queue_size > 0 && options.batch_limit > options.queue_size)
    checks.add("queue_size",
               "is " + std::to_string(options.queue_size)
                 + ", too small for a batch of "
                 + std::to_string(options.batch_limit),
               "at least batch_limit", "batch_limit");
  return checks.take();
}

int consume_options::queue_capacity(int batch) const noexcept {
  if (queue_size > 0)
    return queue_size;
  return static_cast<int>(
    std::clamp<std::int64_t>(std::int64_t{batch} * 2, 1, max_count));
}

} // namespace sqlstreams
