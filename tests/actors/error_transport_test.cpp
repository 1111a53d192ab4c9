#include "actors/error_transport.hpp"

#include "storage/refused_message.hpp"

#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>

#include <catch2/catch.hpp>

using namespace sqlstreams;

SCENARIO("an error arrives as it was sent", "[error]") {
  const error sent{code::database_error, recovery::transient,
                   "the server said no: naïve 💡", "Ask it again."};
  const auto arrived = from_caf_error(to_caf_error(sent));
  CHECK(arrived.number() == sent.number());
  CHECK(arrived.recover() == sent.recover());
  CHECK(arrived.detail() == sent.detail());
  CHECK(arrived.fix() == sent.fix());
  CHECK(std::string{arrived.what()} == sent.what());
}

SCENARIO("a refused message keeps its place in the batch", "[error]") {
  const auto sent =
    to_caf_error(refused_message{7, error{code::database_error}});
  CHECK(refused_index(sent) == 7u);
  CHECK(from_caf_error(sent).number() == code::database_error);
  CHECK_FALSE(refused_index(to_caf_error(error{code::database_error})));
  CHECK_FALSE(refused_index(caf::make_error(caf::sec::runtime_error)));
}

SCENARIO("errors of the actor system say what became of the callee",
         "[error]") {
  const auto timeout =
    from_caf_error(caf::make_error(caf::sec::request_timeout));
  CHECK(timeout.number() == code::no_answer);
  CHECK(timeout.recover() == recovery::unknown);

  const auto dead =
    from_caf_error(caf::make_error(caf::sec::request_receiver_down));
  CHECK(dead.number() == code::actor_failed);
  CHECK(dead.detail() == "request_receiver_down");

  CHECK(from_caf_error(caf::exit_reason::user_shutdown).number()
        == code::shutting_down);
  CHECK(from_caf_error(caf::exit_reason::kill).number() == code::actor_failed);
}

SCENARIO("any exception can be answered with", "[error]") {
  const auto transported = [](auto thrown) {
    try {
      throw thrown;
    } catch (...) {
      return from_caf_error(current_exception_to_caf_error(code::no_answer));
    }
  };
  CHECK(transported(error{code::overloaded}).number() == code::overloaded);
  CHECK(transported(std::runtime_error{"oh"}).detail() == "oh");
  CHECK(transported(42).number() == code::no_answer);
}
