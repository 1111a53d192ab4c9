#include "storage/message_checks.hpp"

#include "config/text_checks.hpp"
#include "storage/json_number.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace sqlstreams {
namespace {

/// Deepest nesting of arrays and objects: far below where the server's parser
/// gives up, far above what anybody writes.
constexpr std::size_t max_json_depth = 1000;

/// Longest key, in bytes: an entry of the index on keys must fit a page.
constexpr std::size_t max_key_bytes = 1024;

using finding = std::optional<error>;

/// Reads JSON without keeping it, and says what PostgreSQL would refuse.
class json_inspector : public nlohmann::json_sax<nlohmann::json> {
public:
  [[nodiscard]] const finding& found() const noexcept { return found_; }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t& token) override {
    return fits_numeric(token) || out_of_range(token);
  }
  bool binary(binary_t&) override { return true; }
  bool string(string_t& text) override { return text_without_nul(text); }
  bool key(string_t& text) override { return text_without_nul(text); }
  bool start_object(std::size_t) override { return deeper(); }
  bool start_array(std::size_t) override { return deeper(); }
  bool end_object() override { return higher(); }
  bool end_array() override { return higher(); }

  bool parse_error(std::size_t position, const std::string& token,
                   const nlohmann::json::exception& e) override {
    // A number that is no double could be stored, but not be read again here.
    if (dynamic_cast<const nlohmann::json::out_of_range*>(&e))
      return out_of_range(token);
    return refuse(code::payload_not_json,
                  "payload: no valid JSON at byte " + std::to_string(position)
                    + (token.empty() ? "" : ", near " + shortened(token)));
  }

private:
  static std::string shortened(std::string_view token) {
    // Payloads do not go into error texts; a token's end is enough to find it.
    const auto tail =
      token.size() > 12 ? token.substr(token.size() - 12) : token;
    return '"' + storable_error_text(tail) + '"';
  }

  bool refuse(code number, std::string what) {
    found_ = error{number, std::move(what)};
    return false;
  }

  bool out_of_range(std::string_view token) {
    found_ = error{
      code::payload_not_json,
      "payload: the number " + shortened(token) + " is out of range",
      "Keep numbers below 1.8e308 with at most 16,383 digits after the point, "
      "or write them as texts."};
    return false;
  }

  bool text_without_nul(const std::string& text) {
    if (!has_nul(text))
      return true;
    return refuse(code::text_has_nul, "payload: a JSON text holds \\u0000");
  }

  bool deeper() {
    if (++depth_ <= max_json_depth)
      return true;
    return refuse(code::payload_not_json, "payload: nested deeper than "
                                            + std::to_string(max_json_depth));
  }

  bool higher() {
    --depth_;
    return true;
  }

  std::size_t depth_ = 0;
  finding found_;
};

finding check_json(const new_message& candidate) {
  const auto& text = candidate.payload;
  if (has_nul(text))
    return error{code::text_has_nul, "payload: holds a NUL byte"};
  // The library's parser passes over it, the server's does not.
  if (text.starts_with("\xEF\xBB\xBF"))
    return error{code::payload_not_json,
                 "payload: begins with a byte order mark",
                 "Remove its first three bytes."};
  if (const auto at = find_invalid_utf8(text))
    return error{code::invalid_utf8,
                 "payload: no valid UTF-8 at byte " + std::to_string(*at)};
  // An encoder can be trusted with everything but an escaped NUL, which is
  // valid JSON and yet refused by the server.
  if (candidate.origin == payload_origin::encoder
      && text.find("\\u0000") == std::string::npos)
    return {};
  json_inspector inspector;
  nlohmann::json::sax_parse(text, &inspector);
  return inspector.found();
}

finding check_text(const std::string& field, std::string_view text) {
  if (has_nul(text))
    return error{code::text_has_nul, field + ": holds a NUL byte"};
  if (const auto at = find_invalid_utf8(text))
    return error{code::invalid_utf8,
                 field + ": no valid UTF-8 at byte " + std::to_string(*at)};
  return {};
}

finding check_key(const std::string& field, std::string_view text) {
  if (text.size() > max_key_bytes)
    return error{code::invalid_option,
                 field + ": " + std::to_string(text.size()) + " bytes, at most "
                   + std::to_string(max_key_bytes) + " are allowed",
                 "Use a shorter key, for example a hash."};
  return check_text(field, text);
}

finding check_headers(const message_headers& headers) {
  for (const auto& [name, value] : headers) {
    if (name.empty())
      return error{code::invalid_header, "a header has no name"};
    if (auto found = check_text("header name", name))
      return found;
    if (auto found = check_text("header " + name, value))
      return found;
  }
  return {};
}

finding check_options(const new_message& candidate,
                      const message_limits& limits) {
  for (const auto& problem : validate_sparse(candidate.options))
    return error{code::invalid_option,
                 "options." + problem.field + ": " + problem.what};
  const auto policy =
    candidate.options.concurrency.value_or(concurrency::parallel);
  const bool keyed = policy != concurrency::parallel || limits.compacted;
  if (keyed && candidate.message_key.empty())
    return error{code::key_required,
                 limits.compacted
                   ? std::string{"message_key: a compacted stream needs one"}
                   : "message_key: concurrency "
                       + std::string{to_string(policy)} + " needs one"};
  if (limits.compacted && policy == concurrency::ordered)
    return error{code::invalid_option,
                 "options.concurrency: ordered excludes compaction"};
  return {};
}

finding check_payload(const new_message& candidate,
                      const message_limits& limits) {
  if (candidate.payload.size() > limits.max_payload_bytes)
    return error{code::payload_too_large,
                 "payload: " + std::to_string(candidate.payload.size())
                   + " bytes, at most "
                   + std::to_string(limits.max_payload_bytes) + " are allowed"};
  // Bytes are stored as they are, whatever they are.
  if (!candidate.content_type.empty())
    return check_text("content_type", candidate.content_type);
  return check_json(candidate);
}

} // namespace

std::optional<error> check_message(const new_message& candidate,
                                   const message_limits& limits) {
  if (candidate.schema_version < 1)
    return error{code::invalid_schema_version,
                 "schema_version: " + std::to_string(candidate.schema_version)};
  if (auto found = check_key("routing_key", candidate.routing_key))
    return found;
  if (auto found = check_key("message_key", candidate.message_key))
    return found;
  if (auto found = check_text("idempotency_key", candidate.idempotency_key))
    return found;
  if (auto found = check_headers(candidate.headers))
    return found;
  if (auto found = check_options(candidate, limits))
    return found;
  return check_payload(candidate, limits);
}

} // namespace sqlstreams
