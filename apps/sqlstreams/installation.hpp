#pragma once
// From the command line to the installation a command works on.

#include "actors/client.hpp"
#include "actors/node.hpp"
#include "apps/sqlstreams/context.hpp"
#include "config/configuration.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <utility>

namespace sqlstreams {

/// Whether a command may make the installation's tables.
enum class missing_tables {
  make,
  leave, ///< what needs them says that they are missing
};

/// Reads a configuration file; secrets come from this process's environment.
/// @throws error file_unreadable
/// @throws configuration_error
configuration load_file(const std::string& path);

/// Connects to the database of the command line, else of its `--config` file,
/// else of SQLSTREAMS_DATABASE_URL.
/// @throws error invalid_database_url if there is none, database_unreachable,
///   authentication_failed, ...
client connect(const context& ctx, missing_tables tables);

/// The same where the command works on a file.
client connect(const context& ctx, const configuration& file,
               missing_tables tables);

/// Both for a command that a signal ends in order.
/// @returns empty if it was asked to stop meanwhile
std::optional<client> connect_unless(const std::stop_token& stop,
                                     const context& ctx, missing_tables tables);
std::optional<client> connect_unless(const std::stop_token& stop,
                                     const context& ctx,
                                     const configuration& file,
                                     missing_tables tables);

/// Does what such a command does before it serves, or instead of it. Asked to
/// stop, it does not wait for a database that does not answer.
/// @returns what `work` returns; empty if it was asked to stop: the client is
///   of no further use then
template <class Work>
auto unless(const std::stop_token& stop, const client& db, Work work)
  -> std::optional<decltype(work())> {
  std::optional<decltype(work())> result;
  try {
    const std::stop_callback on_stop{stop, [&db] {
                                       db.node().give_up_calls();
                                     }};
    result = work();
  } catch (const error&) {
    if (!stop.stop_requested())
      throw;
  }
  if (stop.stop_requested())
    return std::nullopt;
  return result;
}

/// Returns a registered stream.
/// @throws error invalid_name, reserved_name, stream_not_found naming the
///   schema and what to do
stream_info require_stream(const client& db, const std::string& name);

/// Returns a registered group.
/// @throws error as require_stream; group_not_found likewise
group_info require_group(const client& db, const std::string& stream,
                         const std::string& name);

} // namespace sqlstreams
