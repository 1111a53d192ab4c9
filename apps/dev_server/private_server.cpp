#include "apps/dev_server/private_server.hpp"

#include "apps/dev_server/child_process.hpp"
#include "apps/dev_server/os_user.hpp"
#include "apps/dev_server/postmaster.hpp"
#include "apps/dev_server/server_binaries.hpp"
#include "apps/dev_server/server_folder.hpp"
#include "config/error.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <random>
#include <system_error>
#include <thread>
#include <utility>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

// A socket's path may have 107 bytes, its name takes up to 16 of them, and the
// server makes a lock file with a longer name beside it.
constexpr std::size_t longest_socket_folder = 85;

/// A server's folder as one change of it sees it.
struct place {
  fs::path folder;
  std::optional<os_user> owner; ///< who the server runs as
  server_record record;

  [[nodiscard]] fs::path home() const {
    return record.home.empty() ? folder : record.home;
  }
  [[nodiscard]] fs::path sockets() const {
    return record.sockets.empty() ? home() : record.sockets;
  }
  [[nodiscard]] fs::path data() const { return home() / "data"; }
  [[nodiscard]] fs::path log() const { return home() / "server.log"; }

  [[nodiscard]] std::optional<pid_t> pid() const {
    return running_postmaster(data(), owner);
  }

  [[nodiscard]] std::string url(const char* database) const {
    return "postgresql://postgres:" + record.password
           + "@127.0.0.1:" + std::to_string(record.port) + '/' + database;
  }

  void save() const { write_record(folder, record, owner); }
};

std::string random_password() {
  std::random_device source; // the kernel's, not a seeded generator
  std::string text;
  for (int i = 0; i < 32; ++i)
    text += "0123456789abcdef"[source() % 16];
  return text;
}

/// The place of an existing server; empty if the folder holds none.
std::optional<place> find_place(const fs::path& folder) {
  auto record = read_record(folder);
  if (!record)
    return std::nullopt;
  return place{folder, server_user(folder), std::move(*record)};
}

void check_setting(const std::string& setting) {
  static constexpr std::array ours{"port", "listen_addresses",
                                   "unix_socket_directories",
                                   "unix_socket_permissions"};
  const auto name = setting.substr(0, setting.find('='));
  const auto known = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c == '_' || c == '.';
  };
  if (name.empty() || name.size() == setting.size()
      || !std::all_of(name.begin(), name.end(), known)
      || setting.find_first_of("\r\n") != std::string::npos)
    throw error{code::invalid_option,
                "server setting '" + setting
                  + "' is not of the form name=value",
                "write it like work_mem=16MB"};
  if (std::find(ours.begin(), ours.end(), name) != ours.end())
    throw error{code::invalid_option,
                "server setting " + name + " is the private server's own",
                "leave it out"};
}

/// Decides where the files go: see `private_server` on folders of root.
void settle_home(place& at) {
  if (at.record.home.empty()) {
    if (may_enter(at.folder, at.owner))
      return;
    at.record.home = make_short_folder("/var/tmp", at.owner);
    at.save();
    return;
  }
  if (!fs::exists(at.record.home)) {
    // Cleared away with the temporary files: begin anew.
    at.record.home.clear();
    settle_home(at);
  }
}

void settle_sockets(place& at) {
  if (at.home().native().size() <= longest_socket_folder) {
    at.record.sockets.clear();
  } else if (at.record.sockets.empty()
             || !may_enter(at.record.sockets, at.owner)) {
    at.record.sockets = make_short_folder(fs::temp_directory_path(), at.owner);
  }
}

std::optional<int> version_of_data(const place& at) {
  std::ifstream file{at.data() / "PG_VERSION"};
  int version = 0;
  return file >> version ? std::optional{version} : std::nullopt;
}

bool is_unsafe(const place& at) {
  return std::find(at.record.settings.begin(), at.record.settings.end(),
                   "fsync=off")
         != at.record.settings.end();
}

/// Makes the cluster under another name first: one that was interrupted is
/// never taken for a whole one, it is made again.
void make_cluster(const place& at, const server_binaries& binaries) {
  const auto draft = at.home() / "data.new";
  fs::remove_all(draft);
  const auto password = at.home() / "password";
  write_private_file(password, at.record.password + '\n', at.owner);
  std::vector<std::string> command{
    binaries.folder / "initdb",  "--pgdata=data.new", "--username=postgres",
    "--encoding=UTF8",           "--locale=C",        "--auth-local=trust",
    "--auth-host=scram-sha-256", "--pwfile=password"};
  if (is_unsafe(at))
    command.emplace_back("--no-sync");
  const auto made = run_child(command, at.home(), at.owner);
  fs::remove(password);
  if (made.status != 0)
    throw error{code::server_not_started,
                "initdb in " + at.home().string() + " failed: " + made.output};
  std::ofstream{draft / "postgresql.conf", std::ios::app}
    << "include 'sqlstreams.conf'\n";
  fs::rename(draft, at.data());
}

void write_settings(const place& at) {
  // The folder's name stands in a list: quoted, a comma in it does not split.
  const auto folder = at.sockets();
  std::string sockets = "\"";
  for (const char c : folder.native())
    sockets += c == '"' ? "\"\"" : std::string{c};
  sockets += '"';
  auto text = setting_line("listen_addresses", "127.0.0.1")
              + setting_line("port", std::to_string(at.record.port))
              + setting_line("unix_socket_directories", sockets)
              + setting_line("unix_socket_permissions", "0700");
  for (const auto& setting : at.record.settings) {
    const auto equals = setting.find('=');
    text += setting_line(setting.substr(0, equals), setting.substr(equals + 1));
  }
  write_private_file(at.data() / "sqlstreams.conf", text, at.owner);
}

child_result pg_ctl(const place& at, const server_binaries& binaries,
                    std::vector<std::string> arguments) {
  // Relative paths: pg_ctl hands them to a shell, which would expand a `$`.
  std::vector<std::string> command{
    binaries.folder / "pg_ctl", "--pgdata=data", "--wait",
    "--timeout=" + std::to_string(server_patience.count())};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return run_child(command, at.home(), at.owner);
}

/// Whether a failed start is worth another: the free port was taken before the
/// server got to it, or the children of a killed server are not gone yet.
bool start_again(const place& at, const std::string& log) {
  return !at.pid()
         && (!port_is_free(at.record.port)
             || log.find("pre-existing shared memory") != std::string::npos);
}

void launch(place& at, const server_binaries& binaries) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{10};
  for (;;) {
    if (!port_is_free(at.record.port))
      at.record.port = free_port();
    at.save();
    write_settings(at);
    std::error_code no_log_yet;
    const auto size = fs::file_size(at.log(), no_log_yet);
    const auto started = pg_ctl(at, binaries, {"--log=server.log", "start"});
    if (started.status == 0)
      return;
    const auto log = last_lines(at.log(), no_log_yet ? 0 : size);
    if (!start_again(at, log) || std::chrono::steady_clock::now() > end)
      throw error{code::server_not_started, "the server in "
                                              + at.home().string()
                                              + " did not start; the end of "
                                              + at.log().string() + ':' + log};
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
  }
}

void finish_start(const place& at) {
  const auto url = at.url("postgres") + "?sslmode=disable";
  if (!wait_until_ready(url))
    throw error{code::server_not_started,
                "the server in " + at.home().string()
                  + " runs but does not answer; the end of " + at.log().string()
                  + ':' + last_lines(at.log(), 0)};
  ensure_database(url);
}

bool start_locked(place& at, const std::vector<std::string>& settings,
                  const fs::path& binaries_folder) {
  const bool started = !at.pid();
  if (started) {
    if (!settings.empty())
      at.record.settings = settings;
    settle_home(at);
    const auto binaries =
      find_server_binaries(binaries_folder, version_of_data(at));
    settle_sockets(at);
    if (!fs::exists(at.data()))
      make_cluster(at, binaries);
    remove_leftovers(at.data(), at.sockets());
    launch(at, binaries);
  }
  finish_start(at);
  return started;
}

bool stop_locked(const place& at, stop_mode mode,
                 const fs::path& binaries_folder) {
  if (!at.pid())
    return false;
  const auto binaries =
    find_server_binaries(binaries_folder, version_of_data(at));
  const auto* name = mode == stop_mode::fast ? "fast" : "immediate";
  const auto stopped =
    pg_ctl(at, binaries, {std::string{"--mode="} + name, "stop"});
  if (stopped.status != 0 && at.pid())
    throw error{code::database_error,
                "the server in " + at.home().string()
                  + " did not stop: " + stopped.output,
                "try again, or stop it with --immediate"};
  return true;
}

} // namespace

private_server::private_server(private_server_options options)
  : folder_{fs::absolute(options.folder).lexically_normal()},
    settings_{std::move(options.settings)}, binaries_{
                                              std::move(options.binaries)} {
  // "x/" and "x" are one folder.
  if (!folder_.has_filename())
    folder_ = folder_.parent_path();
}

bool private_server::start() {
  for (const auto& setting : settings_)
    check_setting(setting);
  const auto owner = server_user(folder_);
  make_server_folder(folder_, owner);
  const folder_lock lock{folder_, owner};
  auto at = find_place(folder_);
  if (!at) {
    at = place{folder_, owner, {.password = random_password()}};
    at->save();
  }
  return start_locked(*at, settings_, binaries_);
}

bool private_server::stop(stop_mode mode) {
  if (!find_place(folder_))
    return false;
  const folder_lock lock{folder_, server_user(folder_)};
  const auto at = find_place(folder_);
  return at && stop_locked(*at, mode, binaries_);
}

void private_server::restart(stop_mode mode) {
  stop(mode);
  start();
}

bool private_server::destroy() {
  refuse_foreign_folder(folder_);
  if (!find_place(folder_))
    return false;
  const folder_lock lock{folder_, server_user(folder_)};
  const auto at = find_place(folder_);
  if (!at)
    return false;
  stop_locked(*at, stop_mode::immediate, binaries_);
  if (!at->record.sockets.empty())
    fs::remove_all(at->record.sockets);
  if (!at->record.home.empty())
    fs::remove_all(at->record.home);
  remove_server_files(folder_);
  return true;
}

private_server_status private_server::status() const {
  private_server_status result;
  result.folder = folder_;
  const auto at = find_place(folder_);
  if (!at)
    return result;
  result.log = at->log();
  result.port = at->record.port;
  result.pid = at->pid();
  result.running = result.pid.has_value();
  if (result.running)
    result.url = at->url("sqlstreams");
  return result;
}

std::string private_server::url() const {
  auto now = status();
  if (!now.running)
    throw error{
      code::server_not_started, "no private server runs in " + folder_.string(),
      "start it with: sqlstreams dev start --data " + folder_.string()};
  return now.url;
}

std::optional<pid_t> private_server::pid() const { return status().pid; }

fs::path private_server::psql() const {
  std::optional<int> version;
  if (const auto at = find_place(folder_))
    version = version_of_data(*at);
  const auto own = find_server_binaries(binaries_, version).folder / "psql";
  return fs::exists(own) ? own : find_in_path("psql");
}

} // namespace sqlstreams
