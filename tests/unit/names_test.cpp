#include "config/names.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace sqlstreams;

TEST_CASE("names that are usable everywhere are accepted", "[names]") {
  for (const auto& name :
       {std::string("a"), std::string("a.b"), std::string("a-b"),
        std::string("1x"), std::string("select"), std::string("orders"),
        std::string("."), std::string("__system"), std::string(48, 'x'),
        std::string(63, 'x'), std::string(64, 'x'), std::string(200, 'x')})
    for (auto kind : {name_kind::stream, name_kind::group, name_kind::schedule})
      CHECK_FALSE(check_name(kind, name));
}

TEST_CASE("a refused name says limit, characters and position", "[names]") {
  std::string accents;
  for (int i = 0; i < 32; ++i)
    accents += "é";
  const std::pair<std::string, std::string> cases[] = {
    {"", "is empty"},
    {"Orders", "has 'O' at byte 1"},
    {"a b", "has a blank at byte 2"},
    {" a", "has a blank at byte 1"},
    {accents, "has 'é' at byte 1"},
    {"ab\xC3\x28", "has byte 0xC3 at byte 3"},
    {"a\nb", "has byte 0x0A at byte 2"},
    {"a\"b", "has '\"' at byte 2"},
    {"a%b", "has '%' at byte 2"},
    {std::string("a\0b", 3), "has byte 0x00 at byte 2"},
    {"a\xF0\x9F\x98\x80", "has '\xF0\x9F\x98\x80' at byte 2"},
    {std::string(201, 'x'), "has 201 bytes, the limit is 200"},
    {std::string(300, 'x'), "has 300 bytes, the limit is 200"},
  };
  for (const auto& [name, why] : cases) {
    const auto wrong = check_name(name_kind::stream, name);
    INFO(name);
    REQUIRE(wrong);
    CHECK(wrong->number() == code::invalid_name);
    CHECK(wrong->detail().find("stream name") == 0);
    CHECK(wrong->detail().find(why) != std::string::npos);
    CHECK(wrong->fix().find("200 bytes") != std::string::npos);
    CHECK(wrong->fix().find("a-z") != std::string::npos);
  }
}

TEST_CASE("the system's prefix is reserved", "[names]") {
  const auto wrong = check_name(name_kind::stream, "__system.metrics");
  REQUIRE(wrong);
  CHECK(wrong->number() == code::reserved_name);
  CHECK_THROWS_AS(validate_name(name_kind::group, "__system.x"), error);
}

TEST_CASE("schema names are short plain identifiers", "[names]") {
  for (auto name : {"sqlstreams", "_x", "a1", "select"})
    CHECK_FALSE(check_schema_name(name));
  CHECK_FALSE(check_schema_name(std::string(48, 'x')));
  for (const auto& name :
       {std::string(), std::string("1a"), std::string("A"), std::string("a-b"),
        std::string("a.b"), std::string("a;b"), std::string("pg_x"),
        std::string(49, 'x')}) {
    INFO(name);
    REQUIRE(check_schema_name(name));
    CHECK(check_schema_name(name)->number() == code::invalid_name);
    CHECK_THROWS_AS(validate_schema_name(name), error);
  }
}
