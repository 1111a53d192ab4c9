#include "storage/idempotency_uuid.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace sqlstreams {
namespace {

using sha1_hash = std::array<std::uint8_t, 20>;
using sha1_state = std::array<std::uint32_t, 5>;

constexpr std::string_view name_space{
  "\x6c\x1e\x9f\x0a\x6d\x5b\x5c\x7e\x9a\x0e\x3f\x1f\x5a\x0e\x7b\x21", 16};

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f')
         || (c >= 'A' && c <= 'F');
}

/// One block of 64 bytes; FIPS 180-4, section 6.1.2.
void add_block(sha1_state& state, const char* block) {
  std::array<std::uint32_t, 80> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte)
      w[i] = (w[i] << 8) | static_cast<std::uint8_t>(block[i * 4 + byte]);
  }
  for (std::size_t i = 16; i < 80; ++i)
    w[i] = std::rotl(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
  auto [a, b, c, d, e] = state;
  for (std::size_t i = 0; i < 80; ++i) {
    std::uint32_t f = b ^ c ^ d;
    std::uint32_t k = i < 40 ? 0x6ed9eba1 : 0xca62c1d6;
    if (i < 20) {
      f = (b & c) | (~b & d);
      k = 0x5a827999;
    } else if (i >= 40 && i < 60) {
      f = (b & c) | (b & d) | (c & d);
      k = 0x8f1bbcdc;
    }
    const auto t = std::rotl(a, 5) + f + e + k + w[i];
    e = d;
    d = c;
    c = std::rotl(b, 30);
    b = a;
    a = t;
  }
  const sha1_state change{a, b, c, d, e};
  for (std::size_t i = 0; i < state.size(); ++i)
    state[i] += change[i];
}

sha1_hash sha1(std::string text) {
  const std::uint64_t bits = text.size() * 8;
  text += '\x80';
  text.append((120 - text.size() % 64) % 64, '\0');
  for (int shift = 56; shift >= 0; shift -= 8)
    text += static_cast<char>((bits >> shift) & 0xff);
  sha1_state state{0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
  for (std::size_t at = 0; at < text.size(); at += 64)
    add_block(state, text.data() + at);
  sha1_hash hash{};
  for (std::size_t i = 0; i < hash.size(); ++i)
    hash[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - i % 4 * 8));
  return hash;
}

} // namespace

bool is_uuid(std::string_view text) noexcept {
  if (text.size() != 36)
    return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !is_hex(text[i]))
      return false;
  }
  return true;
}

std::string idempotency_uuid(std::string_view key) {
  if (is_uuid(key)) {
    std::string lower{key};
    for (char& c : lower) {
      if (c >= 'A' && c <= 'F')
        c = static_cast<char>(c - 'A' + 'a');
    }
    return lower;
  }
  auto hash = sha1(std::string{name_space} + std::string{key});
  hash[6] = static_cast<std::uint8_t>((hash[6] & 0x0f) | 0x50);
  hash[8] = static_cast<std::uint8_t>((hash[8] & 0x3f) | 0x80);
  std::string out;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10)
      out += '-';
    out += "0123456789abcdef"[hash[i] >> 4];
    out += "0123456789abcdef"[hash[i] & 15];
  }
  return out;
}

} // namespace sqlstreams
