#include "storage/call_interrupt.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;

SCENARIO("an interruption meets the call it was meant for", "[interrupt]") {
  GIVEN("a session that waits") {
    call_interrupt interrupt;
    int ended = 0;
    interrupt.end_wait_by([&] { ++ended; });

    WHEN("no call is being made") {
      interrupt.interrupt();
      THEN("nothing happens, now or to the next call") {
        interrupt.begin();
        CHECK(ended == 0);
        CHECK_FALSE(interrupt.requested());
      }
    }
    WHEN("its call is interrupted twice") {
      interrupt.begin();
      interrupt.interrupt();
      interrupt.interrupt();
      THEN("its wait is ended once") { CHECK(ended == 1); }
      THEN("whatever it waits for next in that call ends at once") {
        interrupt.end_wait_by([&] { ended += 10; });
        CHECK(ended == 11);
      }
      THEN("the next call is not concerned") {
        interrupt.end();
        interrupt.begin();
        CHECK_FALSE(interrupt.requested());
        interrupt.end_wait_by([&] { ended += 10; });
        CHECK(ended == 1);
      }
    }
    WHEN("it waits no more") {
      interrupt.begin();
      interrupt.forget();
      interrupt.interrupt();
      THEN("there is nothing to end") { CHECK(ended == 0); }
    }
  }
}
