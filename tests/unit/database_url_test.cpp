#include "config/database_url.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

TEST_CASE("no password is ever shown", "[database_url]") {
  const std::pair<const char*, const char*> cases[] = {
    {"postgres:///app", "postgres:///app"},
    {"postgres://app@db/app", "postgres://app@db/app"},
    {"postgres://app:secret@db1,db2:5433/app?sslmode=require",
     "postgres://app:***@db1,db2:5433/app?sslmode=require"},
    {"postgresql://app:se@cret@db/app", "postgresql://app:***@db/app"},
    {"postgres://app:se/cret@db/app", "postgres://app:***@db/app"},
    {"postgres://:secret@db", "postgres://:***@db"},
    {"postgres://db:5432/app", "postgres://db:5432/app"},
    {"postgres:///app?user=x&password=secret&host=/tmp",
     "postgres:///app?user=x&password=***&host=/tmp"},
    {"postgres:///app?sslpassword=secret", "postgres:///app?sslpassword=***"},
    {"host=db password=secret user=app", "host=db password=*** user=app"},
    {"password = 'a secret\\' b' host=db", "password = *** host=db"},
    {"PASSWORD=secret", "PASSWORD=***"},
    {"host=db", "host=db"},
    {"app:secret@db", "app:***@db"},
    {"", ""},
  };
  for (const auto& [url, shown] : cases)
    CHECK(mask_url(url) == shown);
}

TEST_CASE("a wrong address is recognised at sight", "[database_url]") {
  for (auto url :
       {"postgres:///app", "postgresql://db/app", "host=db", "dbname = app"})
    CHECK_FALSE(find_url_problem(url));
  for (auto url : {"", "mysql://db/app", "http://x", "localhost", "db:5432"})
    CHECK(find_url_problem(url));
  CHECK(find_url_problem("mysql://u:secret@db")->find("secret")
        == std::string::npos);
}
