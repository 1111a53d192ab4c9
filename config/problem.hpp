#pragma once
// What is wrong with a value, in a form that a file position can be added to.

#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// One unacceptable field.
struct problem {
  std::string field;         ///< dotted path, e.g. "message.retry.max_delay"
  std::string what;          ///< what is wrong, with the value
  std::string accepted;      ///< what would be right
  std::string other_field{}; ///< the field it contradicts; empty: none
};

/// Returns "message.timeout: is -1s; accepted: ...".
std::string to_string(const problem& value);

/// Puts the path of an outer field before the fields of inner problems and adds
/// them to `all`.
void append_under(std::vector<problem>& all, std::string_view outer,
                  std::vector<problem> inner);

/// @param subject what was checked, e.g. "stream orders"; may be empty
/// @throws error code::invalid_option naming every field, if there are any
void throw_if_any(const std::vector<problem>& problems,
                  std::string_view subject = {});

/// @throws error code::invalid_option naming every wrong field of `value`
template <class Options>
void validate_or_throw(const Options& value, std::string_view subject = {}) {
  throw_if_any(value.validate(), subject);
}

} // namespace sqlstreams
