#include "apps/sqlstreams/line_producer.hpp"

#include <catch2/catch.hpp>

#include <stdexcept>

#include <unistd.h>

using namespace sqlstreams;

namespace {

/// A pipe with a text in it.
class text_input {
public:
  explicit text_input(std::string_view text, bool ended = true) {
    REQUIRE(::pipe(ends_) == 0);
    REQUIRE(::write(ends_[1], text.data(), text.size())
            == static_cast<ssize_t>(text.size()));
    if (ended)
      end();
  }
  ~text_input() {
    end();
    ::close(ends_[0]);
  }
  text_input(const text_input&) = delete;
  text_input& operator=(const text_input&) = delete;

  [[nodiscard]] int fd() const { return ends_[0]; }
  void end() {
    if (ends_[1] >= 0)
      ::close(ends_[1]);
    ends_[1] = -1;
  }

private:
  int ends_[2];
};

/// Stores payloads in memory; refuses a batch that holds the word "refuse".
struct recorder {
  std::vector<std::vector<std::string>> batches;
  std::vector<std::string> refused;
  message_id next = 1;

  std::vector<produced> store(const std::vector<new_message>& messages) {
    std::vector<std::string> payloads;
    std::vector<produced> results;
    for (const auto& message : messages)
      if (message.payload.find("refuse") != std::string::npos)
        throw error(code::database_error, "the server refused it");
      else if (message.payload.find("vanish") != std::string::npos)
        throw error(code::database_unreachable);
    for (const auto& message : messages) {
      payloads.push_back(message.message_key + message.payload);
      results.push_back({next++, false});
    }
    batches.push_back(payloads);
    return results;
  }

  bool run(line_options options, const text_input& input) {
    line_producer lines{std::move(options),
                        [this](const auto& batch) { return store(batch); },
                        [](const auto&) { return true; },
                        [this](const error& e) {
                          refused.push_back(e.what());
                        }};
    line_source source{input.fd(), 1000};
    return lines.run(source);
  }

  [[nodiscard]] std::vector<std::string> all() const {
    std::vector<std::string> payloads;
    for (const auto& batch : batches)
      payloads.insert(payloads.end(), batch.begin(), batch.end());
    return payloads;
  }
};

using texts = std::vector<std::string>;

} // namespace

SCENARIO("lines are found in any input", "[line_source]") {
  GIVEN("lines with and without carriage returns, empty ones, no final break") {
    text_input input{"a\r\n\nb\nlast"};
    line_source source{input.fd(), 100};
    THEN("each comes with its number") {
      CHECK(source.next()->text == "a");
      CHECK(source.next()->text.empty());
      const auto third = source.next();
      CHECK(third->text == "b");
      CHECK(third->number == 3);
      CHECK(source.next()->text == "last");
      CHECK_FALSE(source.next());
      CHECK_FALSE(source.next());
    }
  }
  GIVEN("a line longer than the limit") {
    text_input input{"0123456789\nb\n"};
    line_source source{input.fd(), 4};
    THEN("it is marked, its end is dropped, and the next one is whole") {
      const auto first = source.next();
      CHECK(first->too_long);
      CHECK(first->text == "0123");
      const auto second = source.next();
      CHECK(second->text == "b");
      CHECK_FALSE(second->too_long);
    }
  }
  GIVEN("a writer that pauses") {
    text_input input{"a\n", false};
    line_source source{input.fd(), 100};
    THEN("that is visible, so that nothing is held back") {
      CHECK(source.ready());
      CHECK(source.next()->text == "a");
      CHECK_FALSE(source.ready());
      input.end();
      CHECK(source.ready());
      CHECK_FALSE(source.next());
    }
  }
}

SCENARIO("lines are produced in order and in batches", "[line_producer]") {
  GIVEN("five lines, one of them empty") {
    text_input input{"1\n2\n\n3\n4\n"};
    recorder store;
    line_options options;
    options.batch = 3;
    THEN("full batches go out as they fill, the rest at the end") {
      CHECK(store.run(options, input));
      CHECK(store.batches == std::vector<texts>{{"1", "2", "3"}, {"4"}});
    }
  }
  GIVEN("lines with a field that is to be the key") {
    text_input input{"{\"k\":\"a\"}\n{\"k\":5}\n"};
    recorder store;
    line_options options;
    options.key_field = "k";
    THEN("each gets its own") {
      CHECK(store.run(options, input));
      CHECK(store.all() == texts{"a{\"k\":\"a\"}", "5{\"k\":5}"});
    }
  }
}

SCENARIO("a bad line stops after those before it", "[line_producer]") {
  recorder store;
  line_options options;
  GIVEN("a third line that is no JSON") {
    text_input input{"1\n2\n{oops\n4\n"};
    THEN("it is named, with what was done") {
      CHECK_THROWS_WITH(store.run(options, input),
                        Catch::Contains("SQL1003") && Catch::Contains("line 3")
                          && Catch::Contains("before it 2 messages were"));
      CHECK(store.all() == texts{"1", "2"});
    }
  }
  GIVEN("a third line that only the server refuses") {
    text_input input{"1\n2\n\"refuse\"\n4\n5\n"};
    THEN("it is found within its batch") {
      CHECK_THROWS_WITH(store.run(options, input),
                        Catch::Contains("line 3")
                          && Catch::Contains("the server refused it")
                          && Catch::Contains("before it 2 messages were"));
      CHECK(store.all() == texts{"1", "2"});
    }
  }
  GIVEN("a server that goes away") {
    text_input input{"\"vanish\"\n2\n"};
    THEN("the batch is not blamed message by message") {
      CHECK_THROWS_WITH(store.run(options, input),
                        Catch::Contains("SQL1020") && Catch::Contains("line 1")
                          && Catch::Contains("before it 0 messages were"));
      CHECK(store.batches.empty());
    }
  }
}

SCENARIO("bad lines can be passed over", "[line_producer]") {
  GIVEN("lines that are refused here and by the server") {
    text_input input{"1\n{oops\n3\n\"refuse\"\n5\n"};
    recorder store;
    line_options options;
    options.skip_invalid = true;
    WHEN("they are to be skipped") {
      CHECK(store.run(options, input));
      THEN("all others are produced in order and each is reported") {
        CHECK(store.all() == texts{"1", "3", "5"});
        REQUIRE(store.refused.size() == 2);
        CHECK_THAT(store.refused[0], Catch::Contains("line 2"));
        CHECK_THAT(store.refused[1], Catch::Contains("line 4"));
      }
    }
  }
}
