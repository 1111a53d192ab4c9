#pragma once

#include <string>
#include <string_view>

namespace sqlstreams {

/// Returns a caller's idempotency key as uuid: a text that is one (8-4-4-4-12
/// hexadecimal digits) in lower case, any other as version 5 uuid (RFC 4122) in
/// the namespace 6c1e9f0a-6d5b-5c7e-9a0e-3f1f5a0e7b21. The SQL function
/// `idempotency_uuid` gives the same.
std::string idempotency_uuid(std::string_view key);

/// Returns whether a text has the form 8-4-4-4-12 of hexadecimal digits.
bool is_uuid(std::string_view text) noexcept;

} // namespace sqlstreams
