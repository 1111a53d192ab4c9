#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace sqlstreams::test {

/// When a proxied connection is cut.
enum class cut_moment {
  before, ///< the server never sees the bytes
  after,  ///< the server has answered them, the client never sees that
};

/// Stands between client and PostgreSQL on the loopback interface and can cut a
/// connection at a chosen statement. Counts round trips on the way. Ends at
/// destruction, with all its connections.
class tcp_proxy {
public:
  /// @param url of the server: TCP or unix socket
  explicit tcp_proxy(const std::string& url);
  ~tcp_proxy();
  tcp_proxy(const tcp_proxy&) = delete;
  tcp_proxy& operator=(const tcp_proxy&) = delete;

  /// Returns the address of the same database through the proxy, without
  /// encryption.
  [[nodiscard]] const std::string& url() const noexcept { return url_; }

  /// Cuts the next connection that sends these bytes; once.
  void cut_at(std::string trigger, cut_moment moment);

  /// Returns how often the server has handed the turn back to a client: after
  /// each query cycle, and when it waits for data to copy.
  [[nodiscard]] std::size_t round_trips() const noexcept {
    return round_trips_;
  }

  /// Returns how many connections were cut.
  [[nodiscard]] std::size_t cuts() const noexcept { return cuts_; }

private:
  void accept_clients();
  void relay(int client);
  [[nodiscard]] int connect_to_server() const;
  bool take_trigger(const std::string& bytes, cut_moment& moment);

  std::string host_;
  std::string port_;
  std::string url_;
  int listener_ = -1;
  std::atomic<bool> ends_ = false;
  std::atomic<std::size_t> round_trips_ = 0;
  std::atomic<std::size_t> cuts_ = 0;
  std::mutex mutex_;
  std::string trigger_; ///< guarded, as the next two
  cut_moment moment_ = cut_moment::before;
  std::vector<std::thread> relays_;
  std::thread acceptor_;
};

} // namespace sqlstreams::test
