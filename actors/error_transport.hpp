#pragma once
// Our errors on their way between actors: caf::error carries them without loss.

#include "config/error.hpp"

#include <caf/error.hpp>
#include <caf/fwd.hpp>

#include <cstddef>
#include <optional>

namespace sqlstreams {

/// Returns `e` as an error that actors can answer with. Keeps code, recovery,
/// detail, fix, and the index of a `refused_message`.
caf::error to_caf_error(const error& e);

/// Returns what the exception in flight says, for the edge where calls become
/// answers: ours without loss, any other as `fallback` with its text.
/// @pre called in a catch clause
caf::error current_exception_to_caf_error(code fallback);

/// Returns the error that an actor answered with. One that is not ours says
/// what became of the actor: no_answer (its deadline passed; it may have acted)
/// or actor_failed (it ended or could not understand the request).
/// @pre e holds an error
error from_caf_error(const caf::error& e);

/// Returns which message of a batch the server refused, if `e` is about one.
std::optional<std::size_t> refused_index(const caf::error& e);

/// Makes our errors readable in an actor system of your own. Call it on the
/// configuration before the system is made; without it everything works, but
/// CAF's own log shows numbers instead of texts.
void add_sqlstreams_types(caf::actor_system_config& config);

} // namespace sqlstreams
