#include "storage/binding.hpp"
#include "storage/claim_bound.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

namespace {

visible_ids seen(message_id run_end, message_id top,
                 std::set<std::string> producers = {}) {
  return {run_end, top, std::move(producers)};
}

const std::set<std::string> a_and_b{std::string{"A"}, std::string{"B"}};
const std::set<std::string> b_and_c{std::string{"B"}, std::string{"C"}};

} // namespace

SCENARIO("a claim goes no further than what is proven", "[claim]") {
  GIVEN("visible ids 1, 2 and 4") {
    const message_id run_end = 2;
    const message_id top = 4;

    WHEN("nobody holds the producer lock") {
      const auto bound = find_bound({}, seen(run_end, top));
      THEN("the hole can never be filled and is passed") {
        CHECK(bound.cap == 4);
        CHECK_FALSE(bound.gap);
        CHECK(bound.proof.settled_head == 4);
      }
    }

    WHEN("as much as was wanted is found before the hole") {
      auto enough = seen(run_end, top, a_and_b);
      enough.enough = true;
      const auto bound = find_bound({}, enough);
      THEN("nobody is waited for") {
        CHECK(bound.cap == 2);
        CHECK_FALSE(bound.gap);
        CHECK(bound.proof == claim_proof{});
      }
    }

    WHEN("producers A and B hold it") {
      const auto bound = find_bound({}, seen(run_end, top, a_and_b));
      THEN("the claim stops before the hole and remembers them") {
        CHECK(bound.cap == 2);
        CHECK(bound.gap);
        CHECK(bound.proof
              == claim_proof{0, 4, {std::string{"A"}, std::string{"B"}}});
      }
      AND_WHEN("A has gone and C has come") {
        const auto proof = settle_pending(bound.proof, b_and_c);
        THEN("B still holds it up") {
          CHECK(proof == bound.proof);
          CHECK(find_bound(proof, seen(run_end, 9, b_and_c)).cap == 2);
        }
      }
      AND_WHEN("both have gone and C has come") {
        const auto proof = settle_pending(bound.proof, {"C"});
        THEN("what was visible then is settled, whatever C does") {
          CHECK(proof == claim_proof{4, 0, {}});
          CHECK(find_bound(proof, seen(4, 9, {"C"})).cap == 4);
        }
      }
      AND_WHEN("the hole is filled") {
        const auto next = find_bound(bound.proof, seen(4, 4, {"B"}));
        THEN("the proof is not needed any more") {
          CHECK(next.cap == 4);
          CHECK(next.proof == claim_proof{});
        }
      }
    }
  }
}

TEST_CASE("a pattern's star matches any run of characters, anchored",
          "[bindings]") {
  CHECK(matches_pattern("eu.*", "eu.de.x"));
  CHECK(matches_pattern("eu.*", "eu."));
  CHECK_FALSE(matches_pattern("eu.*", "eu"));
  CHECK_FALSE(matches_pattern("eu.*", "xeu.de"));
  CHECK(matches_pattern("*.c", "a.b.c"));
  CHECK(matches_pattern("a*b*c", "a-b-b-c"));
  CHECK_FALSE(matches_pattern("a*b*c", "a-b-c-d"));
  CHECK(matches_pattern("**", ""));
  CHECK(matches_pattern("a.(b|c)", "a.(b|c)"));
  CHECK_FALSE(matches_pattern("A", "a"));
  CHECK(matches_bindings({}, ""));
  CHECK_FALSE(matches_bindings({"*"}, ""));
}
