// The exception queue: design page 07, "Exceptions".

#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

TEMPLATE_TEST_CASE("a failed message becomes a ready exception",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  const auto range = *fixture.claim().claimed;
  fixture.finish(range, {first_failure(1), first_failure(2, outcome_kind::dead),
                         first_failure(3, outcome_kind::deferred)});

  const auto rows = fixture.exceptions();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].status == exception_status::ready);
  CHECK(rows[0].attempts == 1);
  CHECK(rows[0].last_error == "first failure");
  CHECK(rows[1].status == exception_status::dead);
  CHECK(rows[1].attempts == 0);
  CHECK(rows[2].status == exception_status::deferred);
  CHECK(rows[2].attempts == 0);
  CHECK(fixture.history_of(1) == "failure:0");
  CHECK(fixture.history_of(3) == "deferred:0");
  CHECK(fixture.lag().ready == 1);
  CHECK(fixture.lag().dead == 1);
  CHECK(fixture.lag().deferred == 1);

  // Only what may run is handed out, under a token of its own.
  CHECK(ids_of(fixture.claim_exceptions().claimed) == ids{1, 3});
  CHECK(fixture.lag().inflight == 2);
  CHECK(fixture.claim_exceptions().claimed.empty());
}

TEMPLATE_TEST_CASE("a superseded message leaves a line of history and no row",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed,
                 {first_failure(1, outcome_kind::superseded)});
  CHECK(fixture.exceptions().empty());
  CHECK(fixture.history_of(1) == "superseded:0");
  CHECK(fixture.lag().committed == 1);
}

TEMPLATE_TEST_CASE("an exception waits for its time", "[store][exceptions]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(2);
  auto waiting = first_failure(1);
  waiting.change.run_after = 1h;
  fixture.finish(*fixture.claim().claimed, {waiting, first_failure(2)});
  CHECK(ids_of(fixture.claim_exceptions().claimed) == ids{2});
}

TEMPLATE_TEST_CASE("no more exceptions are claimed than asked for",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  fixture.finish(*fixture.claim().claimed,
                 {first_failure(1), first_failure(2), first_failure(3)});
  CHECK(ids_of(fixture.claim_exceptions(2).claimed) == ids{1, 2});
  CHECK(ids_of(fixture.claim_exceptions(2).claimed) == ids{3});
}

TEMPLATE_TEST_CASE("a stale token changes no exception", "[store][exceptions]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  const auto stale = fixture.claim_exceptions(1, 0s).claimed.at(0);
  const auto live = fixture.claim_exceptions(1, 1h).claimed.at(0);
  CHECK(live.token != stale.token);
  CHECK(live.attempts == 2);
  CHECK(fixture.history_of(1) == "failure:0 expired:1");

  for (const auto kind : {outcome_kind::done, outcome_kind::retry,
                          outcome_kind::dead, outcome_kind::delay}) {
    const auto change = later_run({stale.attempts, stale.delays}, kind, {});
    const auto answer =
      fixture.settle(exception_settlement{1, stale.token, change, "too late"});
    CHECK(answer.lost_exceptions == ids{1});
  }
  CHECK(fixture.history_of(1) == "failure:0 expired:1");
  CHECK(fixture.exceptions().at(0).status == exception_status::inflight);

  // The same outcome twice counts once.
  const exception_settlement failed{
    1, live.token,
    later_run({live.attempts, live.delays}, outcome_kind::retry, retries(3)),
    "again"};
  CHECK(fixture.settle(failed).lost_exceptions.empty());
  CHECK(fixture.settle(failed).lost_exceptions == ids{1});
  CHECK(fixture.exceptions().at(0).attempts == 3);
}

TEMPLATE_TEST_CASE("successes of first runs are logged in mode all only",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.history =
    GENERATE(delivery_log_mode::failures, delivery_log_mode::all);
  fixture.produce(2);
  const auto range = *fixture.claim().claimed;
  fixture.settle({.token = range.token, .resolved_to = 2, .successes = {1, 2}});
  CHECK(fixture.history_of(2)
        == (fixture.history == delivery_log_mode::all ? "success:0" : ""));
}

TEMPLATE_TEST_CASE("exactly the exceptions that may run are claimed",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(8);
  auto entries =
    std::vector<exception_entry>{first_failure(1),
                                 first_failure(2),
                                 first_failure(3, outcome_kind::deferred),
                                 first_failure(4, outcome_kind::deferred),
                                 first_failure(5),
                                 first_failure(6),
                                 first_failure(7),
                                 first_failure(8, outcome_kind::dead)};
  const auto range = *fixture.claim().claimed;
  for (std::size_t i = 0; i < 4; ++i)
    entries[i].change.run_after = 1h;
  fixture.settle({.token = range.token,
                  .resolved_to = 7,
                  .exceptions = {entries.begin(), entries.begin() + 7}});
  const auto held = fixture.claim_exceptions(1).claimed;
  REQUIRE(ids_of(held) == ids{5});
  const auto expired = fixture.claim_exceptions(2, 0s).claimed;
  REQUIRE(ids_of(expired) == ids{6, 7});
  auto nearly_spent = later_outcome(expired[1], outcome_kind::retry);
  nearly_spent.change.attempts = 3;
  fixture.settle(nearly_spent);
  REQUIRE(ids_of(fixture.claim_exceptions(2, 0s).claimed) == ids{6, 7});
  fixture.finish(range, {entries[7]});
  fixture.produce(2);
  const auto more = *fixture.claim().claimed;
  fixture.finish(more,
                 {first_failure(9), first_failure(10, outcome_kind::deferred)});

  // Undue: 1 to 4. Held: 5. Expired: 6. Expired and spent: 7. Dead: 8.
  CHECK(ids_of(fixture.claim_exceptions().claimed) == ids{6, 9, 10});
}

TEMPLATE_TEST_CASE("a deferral, a delay and a superseded run keep the budget",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});

  auto run = fixture.claim_exceptions().claimed.at(0);
  CHECK(run.attempts == 1);
  fixture.settle(later_outcome(run, outcome_kind::deferred));
  CHECK(fixture.exceptions().at(0).status == exception_status::deferred);
  run = fixture.claim_exceptions().claimed.at(0);
  CHECK(run.attempts == 1);
  fixture.settle(later_outcome(run, outcome_kind::delay));
  run = fixture.claim_exceptions().claimed.at(0);
  CHECK(run.attempts == 2);
  CHECK(run.delays == 1);
  fixture.settle(later_outcome(run, outcome_kind::superseded));
  CHECK(fixture.exceptions().empty());
  CHECK(fixture.history_of(1) == "failure:0 deferred:1 delayed:1 superseded:2");
}

TEMPLATE_TEST_CASE("a message that can never succeed is dead at once",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  const auto run = fixture.claim_exceptions().claimed.at(0);
  fixture.settle(later_outcome(run, outcome_kind::dead));
  const auto row = fixture.exceptions().at(0);
  CHECK(row.status == exception_status::dead);
  CHECK(row.attempts == 1);
  CHECK(row.last_error == "later failure");
  CHECK(fixture.claim_exceptions().claimed.empty());
  CHECK(fixture.history_of(1) == "failure:0 failure:1");
}

TEMPLATE_TEST_CASE("a failure waits for its backoff", "[store][exceptions]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  const auto run = fixture.claim_exceptions().claimed.at(0);
  auto failed = later_outcome(run, outcome_kind::retry);
  failed.change.run_after = 1h;
  fixture.settle(failed);
  CHECK(fixture.exceptions().at(0).status == exception_status::ready);
  CHECK(fixture.claim_exceptions().claimed.empty());
}

TEMPLATE_TEST_CASE("a claimed exception carries its whole message",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto given = a_message("\x01\x02");
  given.content_type = "application/x-thing";
  given.routing_key = "eu";
  given.message_key = "k";
  given.headers = {{"a", "b"}};
  fixture.produce({given});
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  const auto run = fixture.claim_exceptions().claimed.at(0);
  CHECK(run.message.payload == given.payload);
  CHECK(run.message.content_type == given.content_type);
  CHECK(run.message.routing_key == "eu");
  CHECK(run.message.message_key == "k");
  CHECK(run.message.headers == given.headers);
}

TEMPLATE_TEST_CASE("exceptions of another schema version stay where they are",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  fixture.schema_version = 2;
  CHECK(fixture.claim_exceptions().claimed.empty());
  CHECK(fixture.exceptions().size() == 1);
}

TEMPLATE_TEST_CASE("a paused group runs no exceptions", "[store][exceptions]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(1);
  fixture.finish(*fixture.claim().claimed, {first_failure(1)});
  fixture.use_group("billing", {.paused = true});
  CHECK(fixture.claim_exceptions().claimed.empty());
  fixture.use_group("billing");
  CHECK(fixture.claim_exceptions().claimed.size() == 1);
}

TEMPLATE_TEST_CASE("exceptions are listed by status, page by page",
                   "[store][exceptions]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(4);
  fixture.finish(*fixture.claim().claimed,
                 {first_failure(1), first_failure(2, outcome_kind::dead),
                  first_failure(3), first_failure(4, outcome_kind::dead)});
  exception_list_request request;
  request.stream = fixture.stream.id;
  request.group = fixture.group.id;
  request.limit = 2;
  CHECK(ids_of(fixture.store.list_exceptions(request)) == ids{1, 2});
  request.after = 2;
  CHECK(ids_of(fixture.store.list_exceptions(request)) == ids{3, 4});
  request.status = exception_status::dead;
  CHECK(ids_of(fixture.store.list_exceptions(request)) == ids{4});
  request.after = 0;
  CHECK(ids_of(fixture.store.list_exceptions(request)) == ids{2, 4});
}
