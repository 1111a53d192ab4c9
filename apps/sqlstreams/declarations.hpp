#pragma once

#include "actors/client.hpp"
#include "config/configuration.hpp"
#include "storage/registration.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// What became of one declaration of a file.
struct declared_item {
  std::string_view kind; ///< "stream" or "group"
  std::string stream;
  std::string group{}; ///< empty for a stream
  registration_effect effect = registration_effect::unchanged;
  binding_effect bindings = binding_effect::none; ///< of a group
  std::string changes{};                          ///< old -> new, if updated
};

/// Registers the streams and groups of a file, each stream before its groups.
/// Each is one transaction: after an error, those before it stay registered.
/// @param told is called with each as soon as it is registered
/// @throws error what the registration of the first wrong one says
void apply_declarations(const client& db, const configuration& file,
                        const std::function<void(const declared_item&)>& told);

} // namespace sqlstreams
