#include "apps/demo/account.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sqlstreams::demo;

namespace {

/// What three orders leave in a ledger when all goes well.
std::vector<std::string> good_lines() {
  return {"11 1 0 500 done", "12 2 0 501 declined", "13 3 0 500 done",
          "12 2 1 501 done"};
}

account_book book_of(const std::vector<std::string>& lines) {
  account_book book{{1, 2, 3}};
  for (const auto& line : lines)
    book.enter(line);
  return book;
}

} // namespace

SCENARIO("the account balances when every order was charged", "[demo]") {
  GIVEN("the ledger of a run in which all went well") {
    const auto book = book_of(good_lines());
    THEN("nothing is lost, made up or done twice") {
      CHECK(book.sums() == account{.produced = 3, .handled = 3, .declined = 1});
      CHECK(book.sums().balanced());
      CHECK(book.lost_orders(10).empty());
    }
    THEN("each process is credited with what it charged first") {
      CHECK(book.first_charges()
            == std::map<std::int64_t, std::size_t>{{500, 2}, {501, 1}});
    }
    THEN("the summary has all figures in their places") {
      CHECK(summary_line(book.sums())
            == "demo: produced=3 handled=3 lost=0 unexpected=0 duplicates=0");
    }
  }
}

SCENARIO("the account objects to a forged ledger", "[demo]") {
  GIVEN("a good ledger") {
    auto lines = good_lines();

    WHEN("a line is missing") {
      lines.erase(lines.begin());
      const auto book = book_of(lines);
      THEN("its order is lost") {
        CHECK(book.sums().lost == 1);
        CHECK(book.sums().handled == 2);
        CHECK_FALSE(book.sums().balanced());
        CHECK(book.lost_orders(10) == std::vector<std::int64_t>{1});
      }
    }

    WHEN("an order was only declined") {
      lines.pop_back();
      THEN("it is lost, too") {
        CHECK(book_of(lines).lost_orders(10) == std::vector<std::int64_t>{2});
      }
    }

    WHEN("a line names an order that there is not") {
      lines.emplace_back("14 4 0 500 done");
      const auto book = book_of(lines);
      THEN("it is unexpected and shown") {
        CHECK(book.sums().unexpected == 1);
        CHECK_FALSE(book.sums().balanced());
        CHECK(book.oddities() == std::vector<std::string>{"14 4 0 500 done"});
      }
    }

    WHEN("a known order comes under another message id") {
      lines.emplace_back("99 1 0 500 done");
      const auto book = book_of(lines);
      THEN("that message was made up: unexpected, no duplicate") {
        CHECK(book.sums().unexpected == 1);
        CHECK(book.sums().duplicates == 0);
      }
    }

    WHEN("a charge is repeated") {
      lines.push_back(lines.front());
      const auto book = book_of(lines);
      THEN("it is a duplicate, and the account still balances") {
        CHECK(book.sums().duplicates == 1);
        CHECK(book.sums().handled == 3);
        CHECK(book.sums().balanced());
      }
    }

    WHEN("a line is torn") {
      lines.back().resize(6);
      const auto book = book_of(lines);
      THEN("it counts for nothing but an unexpected line") {
        CHECK(book.sums().unexpected == 1);
        CHECK(book.sums().lost == 1);
      }
    }
  }
}

TEST_CASE("the order of ledger lines makes no difference", "[demo]") {
  auto lines = good_lines();
  std::sort(lines.begin(), lines.end());
  const auto sums = book_of(good_lines()).sums();
  do
    CHECK(book_of(lines).sums() == sums);
  while (std::next_permutation(lines.begin(), lines.end()));
}
