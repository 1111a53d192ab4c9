#include "actors/error_transport.hpp"

#include "storage/refused_message.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>
#include <caf/sec.hpp>

#include <string>

namespace sqlstreams {

namespace {

constexpr auto category = caf::atom("sqlstreams");

/// The index that stands for "not about one message".
constexpr std::int64_t no_index = -1;

// CAF's own number has eight bits; ours travels in the context.
caf::error pack(const error& e, std::int64_t index) {
  return {1, category,
          caf::make_message(static_cast<std::uint16_t>(e.number()),
                            static_cast<std::uint8_t>(e.recover()), e.detail(),
                            e.fix(), index)};
}

bool is_ours(const caf::error& e) {
  return e.category() == category
         && e.context()
              .match_elements<std::uint16_t, std::uint8_t, std::string,
                              std::string, std::int64_t>();
}

error unpack(const caf::message& context) {
  return {static_cast<code>(context.get_as<std::uint16_t>(0)),
          static_cast<recovery>(context.get_as<std::uint8_t>(1)),
          context.get_as<std::string>(2), context.get_as<std::string>(3)};
}

} // namespace

caf::error to_caf_error(const error& e) {
  const auto* refused = dynamic_cast<const refused_message*>(&e);
  return pack(e,
              refused ? static_cast<std::int64_t>(refused->index()) : no_index);
}

caf::error current_exception_to_caf_error(code fallback) {
  try {
    throw;
  } catch (const error& e) {
    return to_caf_error(e);
  } catch (const std::exception& e) {
    return to_caf_error(error{fallback, e.what()});
  } catch (...) {
    return to_caf_error(error{fallback, "an exception of an unknown type"});
  }
}

error from_caf_error(const caf::error& e) {
  if (is_ours(e))
    return unpack(e.context());
  if (e == caf::sec::request_timeout)
    return {code::no_answer, recovery::unknown,
            "the deadline of the request passed"};
  if (e == caf::exit_reason::user_shutdown)
    return error{code::shutting_down};
  // Not to_string(e): without a system, CAF prints categories as numbers.
  if (e.category() == caf::atom("system"))
    return error{code::actor_failed,
                 caf::to_string(static_cast<caf::sec>(e.code()))};
  if (e.category() == caf::atom("exit"))
    return error{code::actor_failed,
                 caf::to_string(static_cast<caf::exit_reason>(e.code()))};
  return error{code::actor_failed, caf::to_string(e)};
}

std::optional<std::size_t> refused_index(const caf::error& e) {
  if (!is_ours(e))
    return std::nullopt;
  const auto index = e.context().get_as<std::int64_t>(4);
  if (index < 0)
    return std::nullopt;
  return static_cast<std::size_t>(index);
}

void add_sqlstreams_types(caf::actor_system_config& config) {
  config.add_error_category(
    category, [](std::uint8_t, caf::atom_value, const caf::message& context) {
      // What the renderer gets is the context alone, and it may have come from
      // a peer that speaks otherwise.
      if (context.match_elements<std::uint16_t, std::uint8_t, std::string,
                                 std::string, std::int64_t>())
        return std::string{unpack(context).what()};
      return "sqlstreams: " + caf::to_string(context);
    });
}

} // namespace sqlstreams
