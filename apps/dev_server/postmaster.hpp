#pragma once

#include "apps/dev_server/os_user.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace sqlstreams {

/// How long a server may take to start or stop.
inline constexpr std::chrono::seconds server_patience{60};

/// Returns the process id of the server that runs on a data folder. A pid file
/// alone proves nothing: it may be left over, and its number may by now be
/// another process's.
std::optional<pid_t> running_postmaster(const std::filesystem::path& data,
                                        const std::optional<os_user>& owner);

/// Removes what a crashed server left and what would keep the next one from
/// starting should its process id have been given to another process.
/// @pre the server does not run
void remove_leftovers(const std::filesystem::path& data,
                      const std::filesystem::path& sockets);

/// Returns whether a port of the loopback interface can be listened on.
bool port_is_free(std::uint16_t port);

/// Returns a port of the loopback interface that is free now.
std::uint16_t free_port();

/// Returns the end of a file from an offset on, at most 15 lines.
std::string last_lines(const std::filesystem::path& file,
                       std::uintmax_t offset);

/// Returns a setting's line for postgresql.conf: value quoted.
std::string setting_line(std::string_view name, std::string_view value);

/// Waits until a server accepts sessions.
/// @returns false if it does not within `server_patience`
bool wait_until_ready(const std::string& url);

/// Makes the database `sqlstreams` if there is none.
/// @param url of the database `postgres`
/// @throws error server_not_started
void ensure_database(const std::string& url);

} // namespace sqlstreams
