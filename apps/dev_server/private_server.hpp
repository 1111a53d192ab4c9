#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace sqlstreams {

/// How a server ends: see pg_ctl in the PostgreSQL manual.
enum class stop_mode {
  fast,      ///< sessions are ended, everything is written out
  immediate, ///< as after a crash: the next start recovers from the log
};

/// Where a private server lives and how it is set up.
struct private_server_options {
  /// The server's own folder; made if absent.
  std::filesystem::path folder = ".sqlstreams/pg";

  /// Server settings as "name=value". They are remembered: a later start
  /// without settings keeps them.
  std::vector<std::string> settings{};

  /// Folder of initdb, pg_ctl and postgres; empty: the newest installed.
  std::filesystem::path binaries{};
};

/// What is known of a private server.
struct private_server_status {
  bool running = false;
  std::optional<pid_t> pid;     ///< of the postmaster, while it runs
  std::uint16_t port = 0;       ///< on 127.0.0.1; 0 before the first start
  std::string url;              ///< empty unless running
  std::filesystem::path folder; ///< absolute
  std::filesystem::path log;    ///< the server's log file
};

/// A PostgreSQL server of one's own, for development, demos and tests: data,
/// log and unix socket in a folder, a free port on the loopback interface, the
/// superuser `postgres` and a database `sqlstreams`. Other servers on the
/// machine are never touched.
///
/// Who may connect: over the socket its owner and root, without a password;
/// over the port whoever knows the password, which is random, part of `url()`
/// and stored in the folder, readable by the owner alone.
///
/// PostgreSQL refuses to run as root. A root process therefore runs the server
/// as the folder's owner, or else as the owner of the nearest existing parent,
/// or else as `postgres` or `nobody`. If that user may not enter the folder
/// (say, one below /root), the data go to a new folder in /var/tmp, and the
/// server's own folder remembers which.
///
/// Objects do nothing at destruction: the server outlives the process. Any
/// number of processes may use one folder at once, each change holds a file
/// lock; an object is not for use by several threads.
class private_server {
public:
  /// Makes no change yet.
  explicit private_server(private_server_options options);

  /// Starts the server, made first if need be, and waits until it answers.
  /// @returns false if it ran already
  /// @throws error server_binaries_missing; invalid_option if the folder holds
  ///   other things or a setting is not "name=value"; server_not_started with
  ///   the end of the server's log
  bool start();

  /// Stops the server and waits for its end.
  /// @returns false if it did not run
  bool stop(stop_mode mode = stop_mode::fast);

  /// Stops and starts the server; the port stays the same if it is still free.
  void restart(stop_mode mode = stop_mode::fast);

  /// Stops the server and removes what it left on disk.
  /// @returns false if there is no such folder
  /// @throws error invalid_option if the folder is not a private server's
  bool destroy();

  /// Reads what is the case now, without a lock.
  [[nodiscard]] private_server_status status() const;

  /// Returns the address for libpq, password included.
  /// @throws error server_not_started if it is not running
  [[nodiscard]] std::string url() const;

  /// Returns the postmaster's process id, empty if it does not run.
  [[nodiscard]] std::optional<pid_t> pid() const;

  /// Returns the psql to be used with this server: the server's own version if
  /// present, else the one in PATH.
  [[nodiscard]] std::filesystem::path psql() const;

private:
  std::filesystem::path folder_; // absolute
  std::vector<std::string> settings_;
  std::filesystem::path binaries_;
};

} // namespace sqlstreams
