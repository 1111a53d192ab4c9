#include "storage/postgres/database_link.hpp"

#include "storage/postgres/connection_settings.hpp"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <libpq-fe.h>
#include <sys/socket.h>
#include <unistd.h>

namespace sqlstreams {
namespace {

using raw_connection = std::unique_ptr<PGconn, decltype(&PQfinish)>;

/// What came of an attempt to connect.
struct attempt_result {
  raw_connection link{nullptr, PQfinish}; ///< perhaps one that failed
  std::string sqlstate;                   ///< why it was refused, if said
};

/// Shared by the thread that makes an attempt and the one that waits for it;
/// whoever is last closes a connection that nobody took.
class attempt {
public:
  /// The attempt is over; or, without a result, not to be waited for.
  void end(attempt_result result = {}) {
    const std::lock_guard lock{mutex_};
    result_ = std::move(result);
    over_ = true;
    changed_.notify_all();
  }

  attempt_result wait() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return over_; });
    return std::move(result_);
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  attempt_result result_;
};

attempt_result connect(const std::string& settings) {
  attempt_result result;
  result.link.reset(PQconnectdb(settings.c_str()));
  if (PQstatus(result.link.get()) != CONNECTION_OK)
    result.sqlstate = refusal_sqlstate(settings);
  return result;
}

// On a thread of its own, because nobody can end libpq's wait: its socket is
// not known, and there is none while it looks up a name. Doing it step by step
// would be without the limit for each of several hosts and would not try the
// next host after one that accepts and is silent. Given up, the thread ends
// with libpq's own `connect_timeout`.
attempt_result connect(const std::string& settings, call_interrupt& interrupt) {
  const auto shared = std::make_shared<attempt>();
  std::thread{[shared, settings] {
    shared->end(connect(settings));
  }}.detach();
  interrupt.end_wait_by([shared] { shared->end(); });
  auto result = shared->wait();
  interrupt.forget();
  return result;
}

/// A second descriptor of a socket.
class duplicate {
public:
  explicit duplicate(int socket)
    : socket_{::fcntl(socket, F_DUPFD_CLOEXEC, 3)} {}
  ~duplicate() {
    if (socket_ >= 0)
      ::close(socket_);
  }
  duplicate(const duplicate&) = delete;
  duplicate& operator=(const duplicate&) = delete;

  void shut_down() const noexcept {
    if (socket_ >= 0)
      ::shutdown(socket_, SHUT_RDWR);
  }

private:
  int socket_;
};

} // namespace

database_link::policy::policy(const std::string& settings,
                              call_interrupt& interrupt)
  : connectionpolicy{settings}, interrupt_{interrupt} {}

database_link::policy::handle
database_link::policy::do_startconnect(handle orig) {
  if (orig)
    return orig;
  auto made = connect(options(), interrupt_);
  if (!made.link)
    throw connection_refused{{}, "given up before the server answered"};
  if (PQstatus(made.link.get()) != CONNECTION_OK)
    throw connection_refused{made.sqlstate, PQerrorMessage(made.link.get())};
  return made.link.release();
}

database_link::database_link(const std::string& settings,
                             std::shared_ptr<call_interrupt> interrupt)
  : connection_base{policy_}, interrupt_{std::move(interrupt)}, policy_{
                                                                  settings,
                                                                  *interrupt_} {
  init();
  // Deprecated in libpqxx, with no successor.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  inhibit_reactivation(true);
#pragma GCC diagnostic pop
  end_waits_with_socket();
}

database_link::~database_link() {
  interrupt_->forget();
  close();
}

void database_link::end_waits_with_socket() {
  // libpq closes its socket by itself when it finds it broken, and the number
  // may be another connection's a moment later. A descriptor of our own means
  // this socket for as long as we hold it: until `forget`, whose lock also
  // keeps an interruption from meeting its end.
  const auto ours = std::make_shared<const duplicate>(sock());
  interrupt_->end_wait_by([ours] { ours->shut_down(); });
}

} // namespace sqlstreams
