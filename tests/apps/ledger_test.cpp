#include "apps/demo/ledger.hpp"
#include "apps/demo/order_file.hpp"
#include "config/error.hpp"
#include "tests/support/scratch_folder.hpp"

#include <catch2/catch.hpp>

#include <fstream>
#include <thread>

using namespace sqlstreams::demo;
using sqlstreams::test::scratch_folder;

namespace {

ledger_entry entry_of(std::int64_t order) {
  return {order + 100, order, 0, 4711, ledger_mark::done};
}

} // namespace

TEST_CASE("a ledger line says what it was made of", "[demo]") {
  ledger_entry entry{17, 3, 2, 4711, ledger_mark::declined};
  CHECK(to_line(entry) == "17 3 2 4711 declined\n");
  CHECK(parse_ledger_line("17 3 2 4711 declined") == entry);
  CHECK(parse_ledger_line("118 18 0 4711 done") == entry_of(18));
}

TEST_CASE("what is no ledger line is not taken for one", "[demo]") {
  const auto* line =
    GENERATE("", "17", "17 3 2 4711", "17 3 2 4711 ", "17 3 2 4711 don",
             "17 3 x 4711 done", " 17 3 2 4711 done", "17 3 2 4711 done 1");
  CAPTURE(line);
  CHECK_FALSE(parse_ledger_line(line));
}

SCENARIO("a ledger is followed while it grows", "[demo]") {
  const scratch_folder folder;
  const auto path = folder.path() / "ledger";
  ledger_reader reader{path};

  GIVEN("no file yet") {
    THEN("there are no lines") { CHECK(reader.new_lines().empty()); }
  }

  GIVEN("two entries") {
    ledger_writer writer{path};
    writer.append(entry_of(1));
    writer.append(entry_of(2));
    REQUIRE(reader.new_lines().size() == 2);

    WHEN("a third comes") {
      writer.append(entry_of(3));
      THEN("only that one is new") {
        const auto lines = reader.new_lines();
        REQUIRE(lines.size() == 1);
        CHECK(parse_ledger_line(lines[0]) == entry_of(3));
        CHECK(reader.new_lines().empty());
      }
    }

    WHEN("a line is only half there") {
      std::ofstream half{path, std::ios::app};
      half << "103 3 0 47" << std::flush;
      THEN("it waits for its other half") {
        CHECK(reader.new_lines().empty());
        CHECK(reader.rest() == "103 3 0 47");
        half << "11 done\n" << std::flush;
        const auto lines = reader.new_lines();
        REQUIRE(lines.size() == 1);
        CHECK(parse_ledger_line(lines[0]) == entry_of(3));
      }
    }
  }
}

TEST_CASE("entries of several threads stay whole", "[demo]") {
  const scratch_folder folder;
  ledger_writer writer{folder.path() / "ledger"};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 200; ++i)
        writer.append(entry_of(thread * 1000 + i));
    });
  for (auto& thread : threads)
    thread.join();
  ledger_reader reader{folder.path() / "ledger"};
  const auto lines = reader.new_lines();
  CHECK(lines.size() == 800);
  for (const auto& line : lines)
    CHECK(parse_ledger_line(line));
}

SCENARIO("the order file is the same for the same seed", "[demo]") {
  const scratch_folder folder;
  GIVEN("a file of a hundred orders") {
    const auto path = folder.path() / "orders.ndjson";
    write_order_file(path, 100, 7);
    THEN("it holds each order once, in order") {
      const auto numbers = order_numbers(path);
      REQUIRE(numbers.size() == 100);
      CHECK(numbers.front() == 1);
      CHECK(numbers.back() == 100);
      order_reader orders{path};
      CHECK(orders.next() == make_order(1, 7));
    }
    WHEN("a line is broken") {
      std::ofstream{path, std::ios::app} << "{\"number\":\n";
      THEN("reading says which") {
        CHECK_THROWS_WITH(order_numbers(path), Catch::Contains("line 101"));
      }
    }
  }
  GIVEN("another seed") {
    THEN("orders differ") { CHECK_FALSE(make_order(1, 7) == make_order(1, 8)); }
  }
}
