#include "actors/child_command.hpp"

#include "actors/running_commands.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace sqlstreams {

namespace {

using steady = std::chrono::steady_clock;

/// A file descriptor that is closed with its owner.
class descriptor {
public:
  explicit descriptor(int number = -1) noexcept : number_{number} {}
  descriptor(descriptor&& other) noexcept
    : number_{std::exchange(other.number_, -1)} {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() { reset(); }
  void reset() noexcept {
    if (number_ >= 0)
      ::close(std::exchange(number_, -1));
  }
  [[nodiscard]] int get() const noexcept { return number_; }
  [[nodiscard]] bool open() const noexcept { return number_ >= 0; }

private:
  int number_;
};

struct pipe_ends {
  descriptor read;
  descriptor write;
};

// Close-on-exec from the beginning: other threads start programs as well.
std::optional<pipe_ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    return std::nullopt;
  return pipe_ends{descriptor{ends[0]}, descriptor{ends[1]}};
}

void set_nonblocking(const descriptor& file) {
  ::fcntl(file.get(), F_SETFL, ::fcntl(file.get(), F_GETFL) | O_NONBLOCK);
}

/// Keeps SIGPIPE from this thread: a program that does not read its input is
/// told by EPIPE. The signal is the thread's own, so others do not notice.
class no_sigpipe {
public:
  no_sigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~no_sigpipe() {
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) < 0 && errno == EINTR)
        continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  no_sigpipe(const no_sigpipe&) = delete;
  no_sigpipe& operator=(const no_sigpipe&) = delete;

private:
  sigset_t pipe_;
  sigset_t before_;
  bool was_pending_ = false;
};

/// What posix_spawn is told about the program's signals, group and files.
class spawn_plan {
public:
  spawn_plan() {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigemptyset(&none);
    // The caller may block or ignore signals for its own purposes.
    sigset_t usual;
    sigemptyset(&usual);
    for (const auto signal : {SIGPIPE, SIGTERM, SIGINT, SIGHUP, SIGCHLD})
      sigaddset(&usual, signal);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP
                                             | POSIX_SPAWN_SETSIGMASK
                                             | POSIX_SPAWN_SETSIGDEF);
  }
  ~spawn_plan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  spawn_plan(const spawn_plan&) = delete;
  spawn_plan& operator=(const spawn_plan&) = delete;

  void connect(const descriptor& ours, int theirs) {
    posix_spawn_file_actions_adddup2(&files_, ours.get(), theirs);
  }

  /// @returns 0, or the error
  int spawn(pid_t& child, const child_command& what) const {
    auto argv = pointers(what.argv);
    auto environment = pointers(what.environment);
    return ::posix_spawn(&child, what.path.c_str(), &files_, &attributes_,
                         argv.data(), environment.data());
  }

private:
  static std::vector<char*> pointers(const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const auto& text : texts)
      result.push_back(const_cast<char*>(text.c_str())); // not written to
    result.push_back(nullptr);
    return result;
  }

  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

/// Waits for a running program while feeding it and listening to it.
class command_watch {
public:
  command_watch(pid_t child, descriptor input, descriptor errors,
                std::size_t keep)
    : child_{child}, input_{std::move(input)}, errors_{std::move(errors)},
      // Not there on old kernels: then it is looked at from time to time.
      ended_{static_cast<int>(::syscall(SYS_pidfd_open, child, 0))},
      told_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)}, keep_{keep} {
    set_nonblocking(input_);
    set_nonblocking(errors_);
  }

  command_end wait(std::string_view input, const std::stop_token& stop,
                   std::chrono::milliseconds kill_after) {
    const no_sigpipe quiet;
    const std::stop_callback wake{stop, [this] {
                                    tell();
                                  }};
    while (!has_ended()) {
      if (stop.stop_requested())
        press(kill_after);
      feed(input);
      wait_for_news();
      listen();
    }
    return finish();
  }

private:
  void tell() const noexcept {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(told_.get(), &one, sizeof one));
  }

  // Left unreaped, so that its number cannot become somebody else's.
  [[nodiscard]] bool has_ended() const {
    siginfo_t info{};
    return ::waitid(P_PID, static_cast<id_t>(child_), &info,
                    WEXITED | WNOHANG | WNOWAIT)
             != 0
           || info.si_pid == child_;
  }

  void press(std::chrono::milliseconds kill_after) {
    const auto now = steady::now();
    if (!end_.stopped) {
      end_.stopped = true;
      kill_at_ = now + kill_after;
      ::kill(-child_, SIGTERM);
    } else if (now >= kill_at_) {
      ::kill(-child_, SIGKILL);
    }
  }

  void feed(std::string_view& input) {
    while (input_.open() && !input.empty()) {
      const auto written = ::write(input_.get(), input.data(), input.size());
      if (written < 0 && errno == EINTR)
        continue;
      if (written < 0 && errno == EAGAIN)
        return;
      if (written < 0) // it does not want it
        return input_.reset();
      input.remove_prefix(static_cast<std::size_t>(written));
    }
    input_.reset();
  }

  void listen() {
    std::array<char, 4096> buffer;
    while (errors_.open()) {
      const auto count = ::read(errors_.get(), buffer.data(), buffer.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0 && errno == EAGAIN)
        return;
      if (count <= 0)
        return errors_.reset();
      end_.errors.append(buffer.data(), static_cast<std::size_t>(count));
      if (end_.errors.size() > 2 * keep_)
        end_.errors.erase(0, end_.errors.size() - keep_);
    }
  }

  void wait_for_news() const {
    std::array<pollfd, 4> files{{{input_.get(), POLLOUT, 0},
                                 {errors_.get(), POLLIN, 0},
                                 {ended_.get(), POLLIN, 0},
                                 {end_.stopped ? -1 : told_.get(), POLLIN, 0}}};
    ::poll(files.data(), files.size(), patience());
  }

  [[nodiscard]] int patience() const {
    using std::chrono::milliseconds;
    auto longest = ended_.open() ? milliseconds{-1} : milliseconds{20};
    if (end_.stopped) {
      const auto left =
        std::chrono::duration_cast<milliseconds>(kill_at_ - steady::now());
      longest = std::min(longest.count() < 0 ? milliseconds{1000} : longest,
                         std::max(left, milliseconds{0}) + milliseconds{1});
    }
    return static_cast<int>(longest.count());
  }

  command_end finish() {
    listen();
    if (end_.stopped) // those it has left behind
      ::kill(-child_, SIGKILL);
    running_commands::ended(child_);
    int status = 0;
    while (::waitpid(child_, &status, 0) < 0 && errno == EINTR)
      continue;
    end_.status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end_.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (end_.errors.size() > keep_)
      end_.errors.erase(0, end_.errors.size() - keep_);
    return std::move(end_);
  }

  pid_t child_;
  descriptor input_;
  descriptor errors_;
  descriptor ended_;
  descriptor told_;
  std::size_t keep_;
  steady::time_point kill_at_{};
  command_end end_;
};

command_end not_started(int reason) {
  command_end end;
  end.not_started = std::strerror(reason);
  return end;
}

bool is_executable_file(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode)
         && ::access(path.c_str(), X_OK) == 0;
}

} // namespace

command_end run_command(const child_command& what, std::string_view input,
                        const std::stop_token& stop,
                        std::chrono::milliseconds kill_after,
                        std::size_t keep_errors) {
  auto to_child = make_pipe();
  auto from_child = make_pipe();
  if (!to_child || !from_child)
    return not_started(errno);
  spawn_plan plan;
  plan.connect(to_child->read, STDIN_FILENO);
  plan.connect(from_child->write, STDERR_FILENO);
  pid_t child = 0;
  const auto failure = running_commands::start(
    child, [&](pid_t& started) { return plan.spawn(started, what); });
  if (failure != 0)
    return not_started(failure);
  to_child->read.reset();
  from_child->write.reset();
  return command_watch{child, std::move(to_child->write),
                       std::move(from_child->read), keep_errors}
    .wait(input, stop, kill_after);
}

std::optional<std::string> find_command(const std::string& name,
                                        std::string_view search_path) {
  if (name.find('/') != std::string::npos)
    return is_executable_file(name) ? std::optional{name} : std::nullopt;
  while (!name.empty()) {
    const auto colon = search_path.find(':');
    const auto folder = search_path.substr(0, colon);
    // An empty entry is the current folder, as for the shell.
    const auto path =
      (folder.empty() ? std::string{"."} : std::string{folder}) + '/' + name;
    if (is_executable_file(path))
      return path;
    if (colon == std::string_view::npos)
      break;
    search_path.remove_prefix(colon + 1);
  }
  return std::nullopt;
}

} // namespace sqlstreams
