// Declarations: one transaction each, created, updated or unchanged.

#include "config/error.hpp"
#include "config/options_json.hpp"
#include "tests/storage/store_fixture.hpp"

#include <catch2/catch.hpp>

using namespace sqlstreams;
using namespace sqlstreams::test;
using namespace std::chrono_literals;
using ids = std::vector<message_id>;

namespace {

template <class Call>
code code_of(Call call) {
  try {
    call();
  } catch (const error& e) {
    return e.number();
  }
  return code{};
}

} // namespace

TEMPLATE_TEST_CASE("declaring a stream says what it did",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto& session = fixture.store;
  const stream_config config{.retention = 720h};
  const auto created =
    session.register_stream({.name = "payments", .config = config});
  CHECK(created.effect == registration_effect::created);
  CHECK(created.stream.name == "payments");
  CHECK(created.stream.config == config);
  CHECK(created.stream.id != fixture.stream.id);

  const auto same =
    session.register_stream({.name = "payments", .config = config});
  CHECK(same.effect == registration_effect::unchanged);
  CHECK(same.stream.id == created.stream.id);

  // Unset means default: the whole document counts.
  const auto updated = session.register_stream({.name = "payments"});
  CHECK(updated.effect == registration_effect::updated);
  CHECK(updated.changes.find("retention") != std::string::npos);
  CHECK(session.find_stream("payments")->config == stream_config{});

  const auto all = session.list_streams();
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "orders");
  CHECK(all[1].name == "payments");
}

TEMPLATE_TEST_CASE("a declaration that is wrong changes nothing",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  auto& session = fixture.store;
  const auto declare = [&](std::string name, stream_config config) {
    return code_of([&] { session.register_stream({std::move(name), config}); });
  };
  CHECK(declare("orders", {.partition_size = 5000, .retention = 1h})
        == code::partition_size_differs);
  CHECK(session.find_stream("orders")->config == stream_config{});
  CHECK(declare("Orders!", {}) == code::invalid_name);
  CHECK(declare("__system.mine", {}) == code::reserved_name);
  CHECK(declare("tiny", {.partition_size = 1}) == code::invalid_option);
  CHECK(session.list_streams().size() == 1);

  CHECK(code_of(
          [&] { session.register_group({.stream = 4711, .name = "billing"}); })
        == code::stream_not_found);
  CHECK(code_of([&] {
          session.register_group({.stream = fixture.stream.id,
                                  .name = "impossible",
                                  .config = {.message = {.timeout = 10s},
                                             .message_min = {.timeout = 20s}}});
        })
        == code::invalid_option);
  CHECK(session.list_groups(fixture.stream.id).size() == 1);
}

TEMPLATE_TEST_CASE("what is not registered is absent", "[store][registration]",
                   memory_fixture, postgres_fixture) {
  TestType fixture;
  CHECK_FALSE(fixture.store.find_stream("nothing"));
  CHECK_FALSE(fixture.store.find_group(fixture.stream.id, "nobody"));
  CHECK(fixture.store.find_system());
  CHECK(fixture.store.register_system().effect
        == registration_effect::unchanged);
}

TEMPLATE_TEST_CASE("declaring a group again keeps its position",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  fixture.produce(3);
  fixture.finish(*fixture.claim(2).claimed);

  const auto before = fixture.group;
  const auto again = fixture.store.register_group(
    {.stream = fixture.stream.id,
     .name = "billing",
     .config = {.message = {.timeout = 10s}, .start = head()}});
  CHECK(again.effect == registration_effect::updated);
  CHECK(again.group.id == before.id);
  CHECK(again.changes.find("timeout") != std::string::npos);
  CHECK(fixture.lag().claimed == 2);
  CHECK(ids_of(fixture.claim().claimed->messages) == ids{3});
}

TEMPLATE_TEST_CASE("a group's whole configuration is stored",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const consumer_config config{
    .message = {.concurrency = concurrency::parallel,
                .timeout = 10s,
                .retry = retry_policy{.max_retries = 5, .base_delay = 2s}},
    .message_max = {.timeout = 30s},
    .start = at_message(2),
    .bindings = {"eu.*", "us"},
    .exception_initial_backoff = 1s,
    .max_range_reclaims = 7};
  const auto created = fixture.store.register_group(
    {.stream = fixture.stream.id, .name = "full", .config = config});
  CHECK(created.effect == registration_effect::created);
  CHECK(created.bindings == binding_effect::installed);
  CHECK(fixture.store.find_group(fixture.stream.id, "full")->config == config);
  const auto again = fixture.store.register_group(
    {.stream = fixture.stream.id, .name = "full", .config = config});
  CHECK(again.effect == registration_effect::unchanged);
  CHECK(again.bindings == binding_effect::joined);
}

TEMPLATE_TEST_CASE("an empty place holds nothing until it is installed",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const auto place = fixture.empty_place();
  CHECK_FALSE(place->find_system());
  CHECK(code_of([&] { place->register_stream({.name = "orders"}); })
        == code::system_not_registered);

  const auto made = place->register_system();
  CHECK(made.effect == registration_effect::created);
  CHECK(made.system.version > 0);
  REQUIRE(place->find_system());
  CHECK(place->find_system()->version == made.system.version);
  CHECK(place->register_system().effect == registration_effect::unchanged);
  CHECK(place->list_streams().empty());
}

TEMPLATE_TEST_CASE("an update says what was and what is",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const auto stream = fixture.store.register_stream(
    {.name = "orders", .config = {.retention = 720h}});
  CHECK(stream.changes
        == describe_changes(stream_config{}, stream.stream.config));
  const consumer_config config{.message = {.timeout = 10s}, .paused = true};
  CHECK(fixture.use_group("billing", config).changes
        == describe_changes(consumer_config{}, config));
  CHECK(fixture.use_group("billing", config).changes.empty());
}

TEMPLATE_TEST_CASE("groups of the same name in two streams are two",
                   "[store][registration]", memory_fixture, postgres_fixture) {
  TestType fixture;
  const auto first = fixture.group;
  const auto first_stream = fixture.stream;
  fixture.stream = fixture.add_stream("payments");
  CHECK(fixture.use_group("billing").effect == registration_effect::created);
  fixture.use_group("audit");
  CHECK(fixture.group.id != first.id);
  CHECK(fixture.group.stream == fixture.stream.id);

  const auto all = fixture.store.list_groups(fixture.stream.id);
  REQUIRE(all.size() == 2);
  CHECK(all[0].name == "audit");
  CHECK(all[1].name == "billing");
  CHECK(fixture.store.list_groups(first_stream.id).size() == 1);
  CHECK(fixture.store.find_group(first_stream.id, "billing")->id == first.id);
  CHECK_FALSE(fixture.store.find_group(first_stream.id, "audit"));
}
