// First and alone: the public header must need nothing before it.
#include <sqlstreams/client.hpp>

// And it must not bring what users did not ask for.
#ifdef CAF_VERSION
#error "the client's header includes CAF"
#endif
#ifdef PQXX_H_TRANSACTION_BASE
#error "the client's header includes libpqxx"
#endif

#include <catch2/catch.hpp>

using namespace sqlstreams;

namespace {

struct versioned {
  static constexpr int schema_version = 3;
  int n = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(versioned, n)

/// A type that is no JSON.
struct blob {
  static constexpr int schema_version = 1;
  std::string bytes;
};

} // namespace

template <>
struct sqlstreams::schema_version_of<nlohmann::json> {
  static constexpr int value = 1;
};

template <>
struct sqlstreams::codec<blob> {
  static constexpr std::string_view content_type = "application/x-blob";
  static std::string encode(const blob& value) { return value.bytes; }
  static blob decode(std::string_view payload) {
    if (payload.empty())
      throw 42;
    return {std::string{payload}};
  }
};

namespace {

outcome handle_stored(const message_handler& handler, const message& stored) {
  const std::string name = "s";
  delivery run{.message = stored, .stream = name, .group = name};
  return handler(run);
}

} // namespace

SCENARIO("a value becomes a message and comes back", "[codec]") {
  GIVEN("a type with from_json and to_json") {
    const auto message = encode(versioned{7}, {.routing_key = "r",
                                               .message_key = "k",
                                               .idempotency_key = "i",
                                               .headers = {{"h", "v"}}});
    THEN("it is JSON of its schema version, with the options") {
      CHECK(message.payload == R"({"n":7})");
      CHECK(message.content_type.empty());
      CHECK(message.schema_version == 3);
      CHECK(message.origin == payload_origin::encoder);
      CHECK(message.routing_key == "r");
      CHECK(message.message_key == "k");
      CHECK(message.idempotency_key == "i");
      CHECK(message.headers.at("h") == "v");
      CHECK(codec<versioned>::decode(message.payload).n == 7);
    }
  }
  GIVEN("a type with a codec of its own") {
    const auto message = encode(blob{"\x01\x02"});
    THEN("its bytes are sent as they are, and checked") {
      CHECK(message.payload == "\x01\x02");
      CHECK(message.content_type == "application/x-blob");
      CHECK(message.origin == payload_origin::text);
    }
  }
  GIVEN("a string that is not UTF-8") {
    CHECK_THROWS_WITH(encode(nlohmann::json("\xff")),
                      Catch::Contains("invalid_utf8"));
  }
}

SCENARIO("a payload that cannot be decoded is dead", "[codec]") {
  int seen = 0;
  const auto handler =
    decoding<versioned>([&](const versioned& value, delivery&) {
      seen = value.n;
      return done();
    });
  const auto result = [&](message stored) {
    return handle_stored(handler, stored);
  };

  CHECK(result({.payload = R"({"n":5})"}) == done());
  CHECK(seen == 5);

  const auto not_json = result({.payload = "secret {"});
  CHECK(not_json.kind == outcome_kind::dead);
  CHECK_THAT(not_json.error, Catch::Contains("cannot be decoded")
                               && !Catch::Contains("secret"));
  const auto other_type = result({.payload = R"({"n":"secret"})"});
  CHECK(other_type.kind == outcome_kind::dead);
  CHECK_THAT(other_type.error, !Catch::Contains("secret"));

  const auto bytes = result({.payload = "x", .content_type = "text/plain"});
  CHECK(bytes.kind == outcome_kind::dead);
  CHECK(bytes.error
        == "the payload is text/plain, and this consumer reads JSON");

  const auto blobs =
    decoding<blob>([](const blob&, delivery&) { return done(); });
  CHECK(handle_stored(blobs, {.content_type = "application/x-blob"}).kind
        == outcome_kind::dead);
}

SCENARIO("what a handler throws is the session's business", "[codec]") {
  const auto handler = decoding<versioned>(
    [](const versioned&, delivery&) -> outcome { throw 42; });
  CHECK_THROWS_AS(handle_stored(handler, {.payload = R"({"n":5})"}), int);
}

SCENARIO("a raw payload can be read, but neither produced nor consumed",
         "[codec]") {
  STATIC_REQUIRE(typed_payload<versioned>);
  STATIC_REQUIRE_FALSE(typed_payload<raw_payload>);
  STATIC_REQUIRE(std::is_copy_constructible_v<stream_handle<raw_payload>>);
}
