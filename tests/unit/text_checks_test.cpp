#include "config/text_checks.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

TEST_CASE("UTF-8 is told from what only looks like it", "[text]") {
  for (const auto* text : {"", "abc", "é", "€", "\xF0\x9F\x98\x80",
                           "\xF4\x8F\xBF\xBF", "\xED\x9F\xBF", "\xEE\x80\x80"})
    CHECK(is_valid_utf8(text));
  for (const auto* text :
       {"\xC3\x28", "\xED\xA0\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80",
        "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF",
        "\x80", "\xE2\x82", "\xF0\x9F\x98"})
    CHECK_FALSE(is_valid_utf8(text));
  CHECK(find_invalid_utf8("abc\xC3\x28") == 3);
  CHECK(has_nul(std::string_view("a\0b", 3)));
  CHECK_FALSE(has_nul("ab"));
}

TEST_CASE("cutting leaves whole characters", "[text]") {
  CHECK(cut_utf8("aé", 2) == "a");
  CHECK(cut_utf8("aé", 3) == "aé");
  CHECK(cut_utf8("\xF0\x9F\x98\x80", 3).empty());
}

TEST_CASE("a good error text is stored as it is", "[text]") {
  CHECK(storable_error_text("card declined: é").find("card declined: é") == 0);
  CHECK(storable_error_text("card declined") == "card declined");
  const std::string longest(max_error_text_bytes, 'x');
  CHECK(storable_error_text(longest) == longest);
}

TEST_CASE("any error text becomes storable and says that it was changed",
          "[text]") {
  std::string emoji;
  while (emoji.size() < max_error_text_bytes + 10)
    emoji += "\xF0\x9F\x98\x80";
  const std::string texts[] = {
    std::string("a\0b", 3),
    "\xC3\x28",
    "\xED\xA0\x80",
    std::string(5'000'000, 'x'),
    std::string(5'000'000, '\xFF'),
    std::string(8180, 'x') + '\0',
    std::string(8190, 'x') + "\xF0\x9F\x98\x80",
    emoji,
  };
  for (const auto& text : texts) {
    const auto stored = storable_error_text(text);
    CHECK(is_valid_utf8(stored));
    CHECK_FALSE(has_nul(stored));
    CHECK(stored.size() <= max_error_text_bytes);
    CHECK(stored != text);
    CHECK(stored.ends_with("]"));
  }
  CHECK(storable_error_text(std::string("a\0b", 3))
        == "a\xEF\xBF\xBD"
           "b [unprintable bytes replaced]");
}
