#include "apps/dev_server/postmaster.hpp"

#include "apps/dev_server/child_process.hpp"
#include "config/error.hpp"

#include <libpq-fe.h>

#include <cerrno>
#include <deque>
#include <fstream>
#include <memory>
#include <system_error>
#include <thread>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

bool is_postgres(pid_t pid) {
  std::ifstream file{"/proc/" + std::to_string(pid) + "/comm"};
  std::string name;
  return std::getline(file, name) && name.starts_with("postgres");
}

/// Binds a port of the loopback interface, 0 for any.
/// @returns the bound port; 0 if it is taken
std::uint16_t try_bind(std::uint16_t port) {
  const int handle = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (handle < 0)
    throw std::system_error{errno, std::generic_category(), "socket"};
  // As the server does: a port in TIME_WAIT counts as free.
  const int yes = 1;
  setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  const bool bound = bind(handle, generic, size) == 0 && listen(handle, 1) == 0
                     && getsockname(handle, generic, &size) == 0;
  close(handle);
  return bound ? ntohs(address.sin_port) : std::uint16_t{0};
}

struct finish_connection {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

struct clear_result {
  void operator()(PGresult* result) const { PQclear(result); }
};

using result_ptr = std::unique_ptr<PGresult, clear_result>;

} // namespace

std::optional<pid_t> running_postmaster(const fs::path& data,
                                        const std::optional<os_user>& owner) {
  std::ifstream file{data / "postmaster.pid"};
  long pid = 0;
  if (!(file >> pid) || pid <= 1)
    return std::nullopt;
  const auto process = static_cast<pid_t>(pid);
  if (!is_postgres(process) || !works_in(process, data, owner))
    return std::nullopt;
  return process;
}

void remove_leftovers(const fs::path& data, const fs::path& sockets) {
  fs::remove(data / "postmaster.pid");
  for (const auto& entry : fs::directory_iterator{sockets})
    if (entry.path().filename().string().starts_with(".s.PGSQL."))
      fs::remove(entry.path());
}

bool port_is_free(std::uint16_t port) {
  return port != 0 && try_bind(port) == port;
}

std::uint16_t free_port() { return try_bind(0); }

std::string last_lines(const fs::path& path, std::uintmax_t offset) {
  std::ifstream file{path};
  file.seekg(static_cast<std::streamoff>(offset));
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > 15)
      lines.pop_front();
  }
  std::string text;
  for (const auto& line : lines)
    text += "\n  " + line;
  return text;
}

std::string setting_line(std::string_view name, std::string_view value) {
  std::string line{name};
  line += " = '";
  for (const char c : value) {
    if (c == '\'' || c == '\\')
      line += c;
    line += c;
  }
  return line + "'\n";
}

bool wait_until_ready(const std::string& url) {
  const auto end = std::chrono::steady_clock::now() + server_patience;
  while (PQping(url.c_str()) != PQPING_OK) {
    if (std::chrono::steady_clock::now() > end)
      return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
  }
  return true;
}

void ensure_database(const std::string& url) {
  const std::unique_ptr<PGconn, finish_connection> connection{
    PQconnectdb(url.c_str())};
  const auto found = result_ptr{
    PQexec(connection.get(),
           "SELECT 1 FROM pg_database WHERE datname = 'sqlstreams'")};
  if (PQresultStatus(found.get()) == PGRES_TUPLES_OK
      && PQntuples(found.get()) > 0)
    return;
  const auto made =
    result_ptr{PQexec(connection.get(), "CREATE DATABASE sqlstreams")};
  if (PQresultStatus(made.get()) != PGRES_COMMAND_OK)
    throw error{code::server_not_started,
                std::string{"the server runs, but the database sqlstreams "
                            "cannot be made: "}
                  + PQerrorMessage(connection.get())};
}

} // namespace sqlstreams
