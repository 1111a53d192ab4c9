#include "config/diagnostic.hpp"
#include "config/error.hpp"

#include <catch2/catch.hpp>

#include <set>
#include <string>

using namespace sqlstreams;

TEST_CASE("every coded condition has one row, with all its texts",
          "[diagnostics]") {
  std::set<std::string_view> names;
  int last = -1;
  for (const auto& row : all_diagnostics()) {
    INFO(to_string(row.number));
    CHECK(static_cast<int>(row.number) > last);
    last = static_cast<int>(row.number);
    CHECK(names.insert(row.name).second);
    CHECK(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_")
          == std::string_view::npos);
    CHECK(row.problem.ends_with('.'));
    CHECK(row.fix.ends_with('.'));
    CHECK(&find_diagnostic(row.number) == &row);
  }
}

TEST_CASE("no enumerator is without a row", "[diagnostics]") {
  // The sparse numbers of the enumeration, as the header lists them.
  for (int number :
       {1,    3,    4,    5,    9,    14,   17,   18,   19,   22,   23,
        26,   27,   28,   30,   31,   32,   33,   38,   39,   41,   54,
        55,   56,   57,   60,   61,   64,   97,   105,  108,  1000, 1001,
        1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, 1011, 1012,
        1013, 1014, 1020, 1021, 1022, 1023, 1024, 1025, 1026, 1027, 1028,
        1029, 1040, 1041, 1042, 1043, 1044, 1045, 1046, 1047, 1048, 1049,
        1050, 1051, 1052, 1060, 1061, 1062, 1063, 1064, 1065, 1066}) {
    const auto value = static_cast<code>(number);
    INFO(number);
    CHECK(find_diagnostic(value).number == value);
  }
}

TEST_CASE("a code is found by whatever a person types", "[diagnostics]") {
  for (auto text : {"SQL0005", "sql0005", "sql5", "5", "0005",
                    "stream_not_found", "Stream_Not_Found"}) {
    INFO(text);
    REQUIRE(find_diagnostic(text));
    CHECK(find_diagnostic(text)->number == code::stream_not_found);
  }
  for (auto text : {"", "SQL", "SQL9999", "999999999999", "nope", "-5", "5x"})
    CHECK_FALSE(find_diagnostic(text));
  CHECK(to_string(code::stream_not_found) == "SQL0005");
  CHECK(to_string(code::usage) == "SQL1011");
}

TEST_CASE("an unknown number from elsewhere is no crash", "[diagnostics]") {
  CHECK(find_diagnostic(static_cast<code>(9999)).number == code::unknown_code);
}

TEST_CASE("recoveries and kinds have names", "[diagnostics]") {
  CHECK(to_string(recovery::transient) == "transient");
  CHECK(to_string(recovery::permanent) == "permanent");
  CHECK(to_string(recovery::unknown) == "unknown");
  CHECK(to_string(diagnostic_kind::error) == "error");
  CHECK(to_string(diagnostic_kind::event) == "event");
  CHECK(to_string(diagnostic_kind::metric) == "metric");
  CHECK(to_string(diagnostic_kind::alert) == "alert");
}

TEST_CASE("an error says what happened and what to do", "[diagnostics]") {
  const error own{code::stream_not_found, "no stream \"orders\"", "create it"};
  CHECK(std::string(own.what())
        == "SQL0005 stream_not_found: no stream \"orders\". Fix: create it");
  CHECK(own.recover() == recovery::permanent);

  const error plain{code::lease_lost};
  CHECK_FALSE(plain.detail().empty());
  CHECK_FALSE(plain.fix().empty());
  CHECK(std::string(plain.what()).find("..") == std::string::npos);

  const error raw{code::database_error, recovery::transient, "40001"};
  CHECK(raw.recover() == recovery::transient);
}
