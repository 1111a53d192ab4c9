#include "config/database_url.hpp"

#include <algorithm>
#include <cctype>

namespace sqlstreams {

namespace {

constexpr std::string_view mask = "***";

char lower(char c) {
  return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

bool starts_with_ignoring_case(std::string_view text, std::string_view prefix) {
  return text.size() >= prefix.size()
         && equal_ignoring_case(text.substr(0, prefix.size()), prefix);
}

bool is_secret(std::string_view key) {
  return equal_ignoring_case(key, "password")
         || equal_ignoring_case(key, "sslpassword");
}

/// Masks `user:password@` of a URL's authority (all that stands before the last
/// @, since a password may hold one by mistake).
std::string mask_authority(std::string_view authority) {
  const auto at = authority.rfind('@');
  const auto colon = authority.find(':');
  if (at == std::string_view::npos || colon >= at)
    return std::string(authority);
  return std::string(authority.substr(0, colon + 1))
    .append(mask)
    .append(authority.substr(at));
}

std::string mask_query(std::string_view query) {
  std::string result;
  while (true) {
    const auto end = query.find('&');
    const auto pair = query.substr(0, end);
    const auto equals = pair.find('=');
    if (equals != std::string_view::npos && is_secret(pair.substr(0, equals)))
      result.append(pair.substr(0, equals + 1)).append(mask);
    else
      result.append(pair);
    if (end == std::string_view::npos)
      return result;
    result += '&';
    query.remove_prefix(end + 1);
  }
}

/// Where the authority of a URL ends. A password with a raw slash or question
/// mark would move the first of them before the @: then the @ decides.
std::size_t authority_end(std::string_view rest) {
  auto end = std::min(rest.find_first_of("/?"), rest.size());
  const auto at = rest.rfind('@');
  const auto colon = rest.find(':');
  const auto query = rest.find('?');
  const bool cut_password = at != std::string_view::npos && end < at
                            && colon < end && (query > at || query == end);
  if (cut_password)
    end = std::min(rest.find_first_of("/?", at), rest.size());
  return end;
}

std::string mask_uri(std::string_view url, std::size_t scheme_size) {
  auto rest = url.substr(scheme_size);
  const auto end = authority_end(rest);
  auto result = std::string(url.substr(0, scheme_size))
                + mask_authority(rest.substr(0, end));
  rest.remove_prefix(end);
  const auto query = rest.find('?');
  if (query == std::string_view::npos)
    return result.append(rest);
  return result.append(rest.substr(0, query + 1))
    .append(mask_query(rest.substr(query + 1)));
}

/// Returns where the value ends that starts at a position: at a blank, or after
/// the closing quote.
std::size_t value_end(std::string_view text, std::size_t at) {
  const bool in_quotes = at < text.size() && text[at] == '\'';
  for (std::size_t i = in_quotes ? at + 1 : at; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (in_quotes && text[i] == '\'')
      return i + 1;
    else if (!in_quotes && std::isspace(static_cast<unsigned char>(text[i])))
      return i;
  }
  return text.size();
}

/// Masks the values of secret keys in `key = value` pairs.
std::string mask_pairs(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    const auto equals = text.find('=', at);
    if (equals == std::string_view::npos)
      break;
    auto key = text.substr(at, equals - at);
    while (!key.empty() && std::isspace(static_cast<unsigned char>(key.back())))
      key.remove_suffix(1);
    const auto blank = key.find_last_of(" \t\r\n");
    if (blank != std::string_view::npos)
      key.remove_prefix(blank + 1);
    auto value = equals + 1;
    while (value < text.size()
           && std::isspace(static_cast<unsigned char>(text[value])))
      ++value;
    const auto end = value_end(text, value);
    result.append(text.substr(at, value - at));
    result.append(is_secret(key) ? mask : text.substr(value, end - value));
    at = end;
  }
  return result.append(text.substr(std::min(at, text.size())));
}

std::size_t scheme_size(std::string_view url) {
  const auto colon = url.find("://");
  const bool is_uri =
    colon != std::string_view::npos && url.find_first_of("= ") > colon;
  return is_uri ? colon + 3 : 0;
}

} // namespace

std::string mask_url(std::string_view url) {
  if (const auto size = scheme_size(url))
    return mask_uri(url, size);
  if (url.find('=') == std::string_view::npos)
    return mask_authority(url);
  return mask_pairs(url);
}

std::optional<std::string> find_url_problem(std::string_view url) {
  if (starts_with_ignoring_case(url, "postgres://")
      || starts_with_ignoring_case(url, "postgresql://"))
    return std::nullopt;
  if (url.empty())
    return "is empty";
  if (scheme_size(url) > 0)
    return "\"" + mask_url(url)
           + "\" does not start with postgres:// or postgresql://";
  if (url.find('=') == std::string_view::npos)
    return "\"" + mask_url(url) + "\" is neither a URL nor key=value pairs";
  return std::nullopt;
}

} // namespace sqlstreams
