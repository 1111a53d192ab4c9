#include "storage/postgres/connection_settings.hpp"

#include "config/database_url.hpp"
#include "config/error.hpp"

#include <libpq-fe.h>
#include <poll.h>

#include <chrono>
#include <map>
#include <memory>
#include <regex>

namespace sqlstreams {
namespace {

using info_options =
  std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;
using raw_connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

void append_setting(std::string& out, std::string_view key,
                    std::string_view value) {
  out += out.empty() ? "" : " ";
  out += key;
  out += "='";
  for (char c : value) {
    if (c == '\'' || c == '\\')
      out += '\\';
    out += c;
  }
  out += '\'';
}

/// Drives a connection attempt to its end, for at most two seconds: libpq
/// itself bounds only attempts that block, and a server that has a reason to
/// refuse says so at once.
void await_connection(PGconn* connection) {
  using clock = std::chrono::steady_clock;
  const auto deadline = clock::now() + std::chrono::seconds{2};
  auto state = PGRES_POLLING_WRITING;
  while (state == PGRES_POLLING_WRITING || state == PGRES_POLLING_READING) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline - clock::now());
    pollfd watched{
      PQsocket(connection),
      static_cast<short>(state == PGRES_POLLING_READING ? POLLIN : POLLOUT), 0};
    if (left.count() <= 0 || watched.fd < 0
        || poll(&watched, 1, static_cast<int>(left.count())) <= 0)
      return;
    state = PQconnectPoll(connection);
  }
}

} // namespace

std::string connection_settings(const postgres_options& options) {
  if (auto problem = find_url_problem(options.url))
    throw error{code::invalid_database_url, *problem};
  char* said = nullptr;
  info_options given{PQconninfoParse(options.url.c_str(), &said),
                     PQconninfoFree};
  if (!given) {
    // libpq's text may quote a piece of the address, hence a password.
    PQfreemem(said);
    throw error{code::invalid_database_url,
                "libpq does not understand " + mask_url(options.url)};
  }
  std::map<std::string, std::string> missing{
    {"connect_timeout", "5"},
    {"keepalives_idle", "10"},
    {"keepalives_interval", "5"},
    {"keepalives_count", "3"},
    {"tcp_user_timeout", "25000"},
    {"fallback_application_name", options.application_name},
    {"client_encoding", "UTF8"},
  };
  std::string out;
  for (auto* option = given.get(); option->keyword; ++option) {
    if (!option->val)
      continue;
    // Texts of another encoding would be misread: ours are UTF-8, always.
    if (std::string_view{option->keyword} == "client_encoding")
      continue;
    missing.erase(option->keyword);
    append_setting(out, option->keyword, option->val);
  }
  for (const auto& [key, value] : missing)
    append_setting(out, key, value);
  return out;
}

std::string refusal_sqlstate(const std::string& settings) {
  // The message is localized, but libpq can be told to write only the SQLSTATE.
  // It must be told before the answer comes: hence an attempt step by step.
  raw_connection attempt{PQconnectStart(settings.c_str()), PQfinish};
  if (!attempt || PQstatus(attempt.get()) == CONNECTION_BAD)
    return {};
  PQsetErrorVerbosity(attempt.get(), PQERRORS_SQLSTATE);
  await_connection(attempt.get());
  if (PQstatus(attempt.get()) == CONNECTION_OK)
    return {};
  const std::string text = PQerrorMessage(attempt.get());
  static const std::regex last_word{R"(:\s+([0-9A-Z]{5})\s*$)"};
  std::smatch found;
  return std::regex_search(text, found, last_word) ? found[1].str() : "";
}

} // namespace sqlstreams
