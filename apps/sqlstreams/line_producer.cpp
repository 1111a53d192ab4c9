#include "apps/sqlstreams/line_producer.hpp"

#include "apps/sqlstreams/key_field.hpp"

#include <algorithm>

namespace sqlstreams {

namespace {

bool is_blank(const std::string& text) {
  return text.find_first_not_of(" \t") == std::string::npos;
}

/// Whether an error is about a message, so that others may still pass.
bool concerns_a_message(const error& e) {
  switch (e.number()) {
  case code::payload_not_json:
  case code::text_has_nul:
  case code::invalid_utf8:
  case code::payload_too_large:
  case code::key_required:
  case code::keyed_policy_unsupported:
  case code::invalid_header:
  case code::invalid_option: return true;
  case code::database_error: return e.recover() == recovery::permanent;
  default: return false;
  }
}

std::string before_it(const line_counts& counts) {
  return "; before it " + std::to_string(counts.produced)
         + (counts.produced == 1 ? " message was" : " messages were")
         + " produced";
}

} // namespace

line_producer::line_producer(line_options options, send send_batch,
                             stored on_stored, refused on_refused)
  : options_{std::move(options)}, send_{std::move(send_batch)},
    stored_{std::move(on_stored)}, refused_{std::move(on_refused)} {}

bool line_producer::run(line_source& lines) {
  while (!stopped_) {
    // Whoever writes line by line should not wait for a batch to fill.
    if (full() || (!batch_.empty() && !lines.ready()))
      flush();
    auto line = lines.next();
    if (!line)
      break;
    if (!is_blank(line->text))
      add(*std::move(line));
  }
  flush();
  return !stopped_;
}

bool line_producer::full() const {
  // So that memory is bounded for large messages, too.
  static constexpr std::size_t limit_bytes = 16u << 20;
  return batch_.size() >= options_.batch || batch_bytes_ >= limit_bytes;
}

void line_producer::add(line_source::line line) {
  auto message = options_.model;
  message.payload = std::move(line.text);
  if (line.too_long)
    return refuse(line.number,
                  error(code::payload_too_large,
                        "the payload is larger than max_payload_bytes ("
                          + std::to_string(options_.limits.max_payload_bytes)
                          + ")"));
  // Checked before it is looked into: that bounds the depth of the parse. A
  // key that is still to come cannot be missing yet.
  auto limits = options_.limits;
  limits.compacted = limits.compacted && options_.key_field.empty();
  if (auto wrong = check_message(message, limits))
    return refuse(line.number, *wrong);
  if (!options_.key_field.empty() || !options_.routing_key_field.empty()) {
    if (auto wrong = take_keys(message))
      return refuse(line.number, *wrong);
    if (auto wrong = check_message(message, options_.limits))
      return refuse(line.number, *wrong);
  }
  batch_bytes_ += message.payload.size();
  batch_.push_back({line.number, std::move(message)});
}

std::optional<error> line_producer::take_keys(new_message& message) const {
  const auto take = [&](const std::string& field,
                        std::string& key) -> std::optional<error> {
    if (field.empty())
      return std::nullopt;
    auto value = sqlstreams::key_field(message.payload, field);
    if (!value)
      return error(code::key_required,
                   "the payload has no field '" + field
                     + "' to take a key from",
                   "add the field, or leave the option out");
    key = *std::move(value);
    return std::nullopt;
  };
  auto wrong = take(options_.key_field, message.message_key);
  return wrong ? wrong : take(options_.routing_key_field, message.routing_key);
}

void line_producer::flush() {
  if (batch_.empty() || stopped_)
    return;
  const auto batch = std::move(batch_);
  batch_.clear();
  batch_bytes_ = 0;
  send_part(batch.data(), batch.data() + batch.size());
}

/// A batch is stored whole or not at all. If one of its messages is refused by
/// the server, halving it finds out which, and stores those before it.
void line_producer::send_part(const numbered* begin, const numbered* end) {
  if (begin == end || stopped_)
    return;
  std::vector<new_message> messages;
  std::transform(begin, end, std::back_inserter(messages),
                 [](const numbered& each) { return each.message; });
  std::vector<produced> result;
  try {
    result = send_(std::move(messages));
  } catch (const error& e) {
    if (!concerns_a_message(e))
      fail(begin->line, e);
    if (end - begin == 1) {
      refuse(begin->line, e);
      return;
    }
    const auto* middle = begin + (end - begin) / 2;
    send_part(begin, middle);
    send_part(middle, end);
    return;
  }
  counts_.produced += result.size();
  for (const auto& each : result) {
    counts_.duplicates += each.duplicate ? 1 : 0;
    if (!each.duplicate) {
      counts_.first = counts_.first == 0 ? each.id : counts_.first;
      counts_.last = each.id;
    }
  }
  stopped_ = !stored_(result);
}

void line_producer::refuse(std::uint64_t line, const error& why) {
  if (!options_.skip_invalid) {
    flush(); // those before it
    fail(line, why);
  }
  ++counts_.refused;
  refused_(error(why.number(), why.recover(),
                 "line " + std::to_string(line) + ": " + why.detail(),
                 why.fix()));
}

void line_producer::fail(std::uint64_t line, const error& why) {
  throw error(why.number(), why.recover(),
              "line " + std::to_string(line) + ": " + why.detail()
                + before_it(counts_),
              why.fix());
}

} // namespace sqlstreams
