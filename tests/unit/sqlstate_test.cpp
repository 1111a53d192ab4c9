#include "storage/postgres/sqlstate.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

namespace {

struct expectation {
  const char* sqlstate;
  sqlstate_meaning open;
  sqlstate_meaning committing;
};

constexpr sqlstate_meaning in_doubt{code::commit_confirmation_lost,
                                    recovery::unknown};
constexpr sqlstate_meaning interrupted{code::database_interrupted,
                                       recovery::transient};
constexpr sqlstate_meaning unreachable{code::database_unreachable,
                                       recovery::transient};
constexpr sqlstate_meaning read_only{code::database_read_only,
                                     recovery::transient};
constexpr sqlstate_meaning permanent{code::database_error, recovery::permanent};

constexpr sqlstate_meaning permanently(code number) {
  return {number, recovery::permanent};
}

} // namespace

TEST_CASE("a failure means the same wherever it is met", "[sqlstate]") {
  const auto row = GENERATE(values<expectation>({
    // Lost in a commit: nobody knows. Lost before: nothing was done.
    {"", interrupted, in_doubt},
    {"08006", interrupted, in_doubt},
    {"08003", interrupted, in_doubt},
    {"57P01", interrupted, in_doubt},
    {"57P02", interrupted, in_doubt},
    {"40003", in_doubt, in_doubt},
    // The server is not there, or not ready yet.
    {"08001", unreachable, unreachable},
    {"08004", unreachable, unreachable},
    {"57P03", unreachable, unreachable},
    {"53300", unreachable, unreachable},
    // Others were in the way.
    {"40001", interrupted, interrupted},
    {"40P01", interrupted, interrupted},
    {"55P03", interrupted, interrupted},
    {"55006", interrupted, interrupted},
    {"57014", interrupted, interrupted},
    {"57P05", interrupted, interrupted},
    {"53100", interrupted, interrupted},
    {"53200", interrupted, interrupted},
    {"58030", interrupted, interrupted},
    // A standby: wait, look for the primary.
    {"25006", read_only, read_only},
    // No repetition helps.
    {"28P01", permanently(code::authentication_failed),
     permanently(code::authentication_failed)},
    {"28000", permanently(code::authentication_failed),
     permanently(code::authentication_failed)},
    {"3D000", permanently(code::invalid_database_url),
     permanently(code::invalid_database_url)},
    {"42501", permanently(code::permission_denied),
     permanently(code::permission_denied)},
    {"42P01", permanently(code::system_not_registered),
     permanently(code::system_not_registered)},
    {"42883", permanently(code::system_not_registered),
     permanently(code::system_not_registered)},
    {"3F000", permanently(code::system_not_registered),
     permanently(code::system_not_registered)},
    {"SQ002", permanently(code::group_not_found),
     permanently(code::group_not_found)},
    {"SQ003", permanently(code::stream_not_found),
     permanently(code::stream_not_found)},
    {"22P02", permanent, permanent},
    {"23514", permanent, permanent},
    {"40002", permanent, permanent},
    {"57P04", permanent, permanent},
    {"08P01", interrupted, in_doubt},
    {"XX000", permanent, permanent},
    {"ZZZZZ", permanent, permanent},
  }));
  INFO("SQLSTATE " << row.sqlstate);
  CHECK(classify_sqlstate(row.sqlstate, statement_stage::open) == row.open);
  CHECK(classify_sqlstate(row.sqlstate, statement_stage::committing)
        == row.committing);
}

TEST_CASE("refusals of data are told from other failures", "[sqlstate]") {
  CHECK(is_data_refusal("22P05"));
  CHECK(is_data_refusal("23514"));
  CHECK(is_data_refusal("54000"));
  CHECK_FALSE(is_data_refusal("42501"));
  CHECK_FALSE(is_data_refusal(""));
  CHECK(is_missing_object("42P01"));
  CHECK(is_missing_object("3F000"));
  CHECK_FALSE(is_missing_object("42501"));
}
