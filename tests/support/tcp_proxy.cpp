#include "tests/support/tcp_proxy.hpp"

#include <arpa/inet.h>
#include <libpq-fe.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>

namespace sqlstreams::test {
namespace {

/// How long a loop sleeps before it looks whether the proxy ends.
constexpr int tick_ms = 20;

/// Splits what the server sends into messages: a type byte, then a length that
/// counts itself. See "Message Formats" in the PostgreSQL manual.
class server_messages {
public:
  /// Counts messages after which it is the client's turn.
  std::size_t count_turns(std::string_view bytes) {
    std::size_t turns = 0;
    pending_ += bytes;
    while (pending_.size() >= 5) {
      std::uint32_t length = 0;
      std::memcpy(&length, pending_.data() + 1, 4);
      const std::size_t whole = 1 + ntohl(length);
      if (pending_.size() < whole)
        break;
      turns += pending_[0] == 'Z' || pending_[0] == 'G';
      pending_.erase(0, whole);
    }
    return turns;
  }

private:
  std::string pending_;
};

std::optional<std::string> receive(int socket) {
  std::array<char, 65536> buffer;
  const auto count = recv(socket, buffer.data(), buffer.size(), 0);
  if (count <= 0)
    return std::nullopt;
  return std::string(buffer.data(), static_cast<std::size_t>(count));
}

bool send_all(int socket, std::string_view bytes) {
  while (!bytes.empty()) {
    const auto count = send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count <= 0)
      return false;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

/// A socket that closes itself.
struct owned_socket {
  int number = -1;
  ~owned_socket() {
    if (number >= 0)
      close(number);
  }
};

bool readable(const pollfd& watched) {
  return (watched.revents & (POLLIN | POLLHUP | POLLERR)) != 0;
}

} // namespace

tcp_proxy::tcp_proxy(const std::string& url) {
  using info_options =
    std::unique_ptr<PQconninfoOption, decltype(&PQconninfoFree)>;
  std::unique_ptr<PGconn, decltype(&PQfinish)> probe{PQconnectdb(url.c_str()),
                                                     PQfinish};
  if (PQstatus(probe.get()) != CONNECTION_OK)
    throw std::runtime_error{PQerrorMessage(probe.get())};
  host_ = PQhost(probe.get());
  port_ = PQport(probe.get());
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0
      || listen(listener_, 16) != 0
      || getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size)
           != 0)
    throw std::runtime_error{"the proxy cannot listen"};

  std::map<std::string, std::string> settings;
  info_options given{PQconninfo(probe.get()), PQconninfoFree};
  for (auto* option = given.get(); option->keyword; ++option) {
    if (option->val && *option->val)
      settings[option->keyword] = option->val;
  }
  settings.erase("hostaddr");
  settings["host"] = "127.0.0.1";
  settings["port"] = std::to_string(ntohs(address.sin_port));
  settings["sslmode"] = "disable";
  settings["gssencmode"] = "disable";
  for (const auto& [key, value] : settings) {
    url_ += (url_.empty() ? "" : " ") + key + "='";
    for (char c : value)
      url_ += (c == '\'' || c == '\\') ? std::string{'\\', c} : std::string{c};
    url_ += '\'';
  }
  acceptor_ = std::thread{[this] {
    accept_clients();
  }};
}

tcp_proxy::~tcp_proxy() {
  ends_ = true;
  acceptor_.join();
  for (auto& relay : relays_)
    relay.join();
  close(listener_);
}

void tcp_proxy::cut_at(std::string trigger, cut_moment moment) {
  const std::lock_guard lock{mutex_};
  trigger_ = std::move(trigger);
  moment_ = moment;
}

bool tcp_proxy::take_trigger(const std::string& bytes, cut_moment& moment) {
  const std::lock_guard lock{mutex_};
  if (trigger_.empty() || bytes.find(trigger_) == std::string::npos)
    return false;
  trigger_.clear();
  moment = moment_;
  return true;
}

void tcp_proxy::accept_clients() {
  while (!ends_) {
    pollfd watched{listener_, POLLIN, 0};
    if (poll(&watched, 1, tick_ms) <= 0)
      continue;
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client >= 0)
      relays_.emplace_back([this, client] { relay(client); });
  }
}

int tcp_proxy::connect_to_server() const {
  if (host_.starts_with('/')) {
    const int server = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto path = host_ + "/.s.PGSQL." + port_;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(server, reinterpret_cast<sockaddr*>(&address), sizeof address)
        != 0) {
      close(server);
      return -1;
    }
    return server;
  }
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (getaddrinfo(host_.c_str(), port_.c_str(), &hints, &found) != 0)
    return -1;
  int server = -1;
  for (auto* one = found; one && server < 0; one = one->ai_next) {
    server = socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(server, one->ai_addr, one->ai_addrlen) != 0) {
      close(server);
      server = -1;
    }
  }
  freeaddrinfo(found);
  return server;
}

void tcp_proxy::relay(int client_socket) {
  const owned_socket client{client_socket};
  const owned_socket server{connect_to_server()};
  const int on = 1;
  setsockopt(client.number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  server_messages answers;
  bool swallow = false; // the client does not learn what the server says
  while (!ends_ && server.number >= 0) {
    std::array<pollfd, 2> watched{pollfd{client.number, POLLIN, 0},
                                  pollfd{server.number, POLLIN, 0}};
    if (poll(watched.data(), watched.size(), tick_ms) <= 0)
      continue;
    if (readable(watched[1])) {
      const auto bytes = receive(server.number);
      if (!bytes)
        return;
      const auto turns = answers.count_turns(*bytes);
      round_trips_ += turns;
      if (swallow && turns > 0)
        return;
      if (!swallow && !send_all(client.number, *bytes))
        return;
    }
    if (!swallow && readable(watched[0])) {
      const auto bytes = receive(client.number);
      if (!bytes)
        return;
      auto moment = cut_moment::after;
      if (take_trigger(*bytes, moment)) {
        ++cuts_;
        if (moment == cut_moment::before)
          return;
        swallow = true;
      }
      if (!send_all(server.number, *bytes))
        return;
    }
  }
}

} // namespace sqlstreams::test
