#pragma once

#include "storage/message.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sqlstreams::bench {

/// Bytes of each payload.
inline constexpr std::size_t payload_bytes = 1000;

/// Returns JSON text of exactly `payload_bytes`, hardly compressible, the same
/// for the same number.
std::string payload(std::int64_t number);

/// Returns the key of a message: one of a thousand.
std::string key_of(std::int64_t number);

/// Returns messages `first`, `first + 1`, ... as they are produced.
std::vector<new_message> messages(std::int64_t first, std::size_t count);

/// Returns the same as lines of COPY text: key and payload.
std::string copy_lines(std::int64_t first, std::size_t count);

} // namespace sqlstreams::bench
