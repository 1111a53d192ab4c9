#include "apps/sqlstreams/text_table.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

SCENARIO("a table is aligned whatever its cells hold", "[text_table]") {
  GIVEN("a table of a text and a number") {
    text_table table{{{"NAME"}, {"N", text_table::alignment::right}}};

    WHEN("it has no rows") {
      THEN("its titles are shown") { CHECK(table.render() == "NAME  N\n"); }
    }

    WHEN("cells are longer than titles and hold other alphabets") {
      table.add_row({"größe", "7"});
      table.add_row({"b", "1234"});
      THEN("columns line up by characters, not bytes") {
        CHECK(table.render()
              == "NAME      N\n"
                 "größe     7\n"
                 "b      1234\n");
      }
    }

    WHEN("a cell holds line breaks and escape sequences") {
      table.add_row({"a\nb\x1b[2J"});
      THEN("they are shown, not obeyed") {
        CHECK(table.render()
              == "NAME         N\n"
                 "a\\nb\\x1b[2J\n");
      }
    }
  }
}

SCENARIO("a table fits the screen", "[text_table]") {
  GIVEN("a row wider than the screen") {
    text_table table{{{"ID", text_table::alignment::right}, {"ERROR"}}};
    table.add_row({"1", "ääääääääääääääääääää"});

    WHEN("it is shown on 14 columns") {
      const auto text = table.render(14);
      THEN("the widest cell is cut at a character and marked") {
        CHECK(text
              == "ID  ERROR\n"
                 " 1  äääääääää…\n");
      }
    }

    WHEN("the screen is narrower than any useful cell") {
      THEN("something of each column is still shown") {
        CHECK(table.render(3)
              == "ID  ERROR\n"
                 " 1  äääää…\n");
      }
    }

    WHEN("no width is known") {
      THEN("nothing is cut") {
        CHECK(table.render().find("…") == std::string::npos);
      }
    }
  }
}
