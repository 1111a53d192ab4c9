#include "apps/bench/measure/payload.hpp"

#include <random>
#include <string_view>

namespace sqlstreams::bench {

namespace {

constexpr std::size_t noise_bytes = 65536;

std::string make_noise() {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::minstd_rand draw{12345};
  std::string noise(noise_bytes, ' ');
  for (auto& letter : noise)
    letter = letters[draw() % letters.size()];
  return noise;
}

} // namespace

std::string payload(std::int64_t number) {
  static const auto noise = make_noise();
  auto text = R"({"number":)" + std::to_string(number) + R"(,"key":")"
              + key_of(number) + R"(","kind":"order.updated","filler":")";
  constexpr std::string_view end = R"("})";
  const auto room = payload_bytes - text.size() - end.size();
  const auto from =
    static_cast<std::size_t>(number) * 37 % (noise_bytes - payload_bytes);
  text.append(noise, from, room);
  return text.append(end);
}

std::string key_of(std::int64_t number) {
  return "key-" + std::to_string(number % 1000);
}

std::vector<new_message> messages(std::int64_t first, std::size_t count) {
  std::vector<new_message> made(count);
  for (auto& message : made) {
    message.payload = payload(first);
    message.message_key = key_of(first);
    message.origin = payload_origin::encoder;
    ++first;
  }
  return made;
}

std::string copy_lines(std::int64_t first, std::size_t count) {
  std::string lines;
  lines.reserve(count * (payload_bytes + 16));
  for (std::size_t i = 0; i < count; ++i, ++first)
    lines.append(key_of(first))
      .append("\t")
      .append(payload(first))
      .append("\n");
  return lines;
}

} // namespace sqlstreams::bench
