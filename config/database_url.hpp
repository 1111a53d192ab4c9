#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// Returns the address with every password (before the @, in the query, in a
/// key=value list) replaced by ***. Also for texts that are no valid address:
/// then whatever could be a secret is replaced.
std::string mask_url(std::string_view url);

/// Returns what is wrong with an address at first sight: neither
/// postgres://..., postgresql://... nor key=value pairs. The value in the text
/// is masked. Empty if nothing; the server has the last word.
std::optional<std::string> find_url_problem(std::string_view url);

} // namespace sqlstreams
