#include "config/producer_config.hpp"

#include "config/checked_fields.hpp"

namespace sqlstreams {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

/// All sleeps and all attempts of one database call; empty if out of range.
bool whole_call_fits(const retry_policy& database, nanoseconds attempt) {
  const auto policy = database.with_defaults(retry_job::database);
  std::int64_t attempts = 0;
  std::int64_t sum = 0;
  return !__builtin_mul_overflow(attempt.count(),
                                 std::int64_t{policy.max_retries}, &attempts)
         && !__builtin_add_overflow(
           attempts, policy.calculate_total_delay().count(), &sum);
}

} // namespace

producer_config producer_config::with_defaults() const {
  auto producer = *this;
  set_default(producer.batch.max_size, 100);
  set_default(producer.batch.concurrency_limit, 4);
  set_default(producer.batch.attempt_timeout, nanoseconds{10s});
  set_default(producer.batch.shutdown_grace, nanoseconds{15s});
  set_default(producer.max_waiting, 10'000);
  return producer;
}

std::vector<problem>
producer_config::validate(const retry_policy& database) const {
  const auto producer = with_defaults();
  const auto& batch = producer.batch;
  field_checks checks;
  checks.append("message", validate_sparse(message));
  checks.between("batch.max_size", batch.max_size, 1, max_batch);
  checks.between("batch.concurrency_limit", batch.concurrency_limit, 1, 1000);
  checks.positive("batch.attempt_timeout", batch.attempt_timeout);
  checks.not_too_long("batch.shutdown_grace", batch.shutdown_grace);
  checks.not_negative("slow_produce_threshold",
                      producer.slow_produce_threshold);
  checks.between("max_waiting", producer.max_waiting, 1, max_count);
  const bool waits = batch.shutdown_grace > 0ns;
  if (waits && batch.shutdown_grace <= batch.attempt_timeout)
    checks.add("batch.shutdown_grace",
               "is " + format_duration(batch.shutdown_grace)
                 + ", not above attempt_timeout "
                 + format_duration(batch.attempt_timeout),
               "more than attempt_timeout, or negative: do not wait",
               "batch.attempt_timeout");
  if (batch.attempt_timeout <= max_duration
      && !whole_call_fits(database, batch.attempt_timeout))
    checks.add("batch.attempt_timeout",
               "is " + format_duration(batch.attempt_timeout)
                 + ": with all retries of a database call it exceeds 292 "
                   "years",
               "a shorter timeout or fewer retries");
  return checks.take();
}

} // namespace sqlstreams
