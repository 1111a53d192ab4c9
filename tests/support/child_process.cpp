#include "tests/support/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace sqlstreams::test {

namespace {

using namespace std::chrono_literals;

struct pipe_ends {
  int read = -1;
  int write = -1;
};

pipe_ends open_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0)
    throw std::runtime_error("pipe: " + std::string(std::strerror(errno)));
  return {ends[0], ends[1]};
}

void close_once(int& fd) {
  if (fd >= 0)
    ::close(fd);
  fd = -1;
}

std::vector<std::string>
merged_environment(const std::map<std::string, std::string>& changes) {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals != std::string_view::npos)
      all[std::string(text.substr(0, equals))] = text.substr(equals + 1);
  }
  for (const auto& [name, value] : changes)
    if (value.empty())
      all.erase(name);
    else
      all[name] = value;
  std::vector<std::string> result;
  for (const auto& [name, value] : all)
    result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Starts the program in a process group of its own.
pid_t spawn(const command& what, int in, int out, int err) {
  auto argv = what.argv;
  auto environment = merged_environment(what.environment);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in, 0);
  posix_spawn_file_actions_adddup2(&actions, out, 1);
  posix_spawn_file_actions_adddup2(&actions, err, 2);
  if (!what.directory.empty())
    posix_spawn_file_actions_addchdir_np(&actions, what.directory.c_str());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t to_default, none;
  sigemptyset(&none);
  sigemptyset(&to_default);
  sigaddset(&to_default, SIGPIPE);
  posix_spawnattr_setsigdefault(&attributes, &to_default);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP
                                          | POSIX_SPAWN_SETSIGDEF
                                          | POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int failure =
    ::posix_spawnp(&pid, argv.at(0).c_str(), &actions, &attributes,
                   pointers(argv).data(), pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0)
    throw std::runtime_error(argv.at(0) + ": " + std::strerror(failure));
  return pid;
}

/// Writes without SIGPIPE ending the test.
void write_all(int fd, std::string_view text) {
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);
  while (!text.empty()) {
    const auto written = ::write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      break; // it does not want more: its exit status tells why
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  const timespec at_once{};
  while (sigtimedwait(&pipe_signal, nullptr, &at_once) > 0) {
  }
  pthread_sigmask(SIG_UNBLOCK, &pipe_signal, nullptr);
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++found;
  return found;
}

} // namespace

child_process::child_process(const command& what, bool keep_input) {
  name_ = what.argv.at(0);
  auto in = open_pipe();
  auto out = open_pipe();
  auto err = open_pipe();
  pid_ = spawn(what, in.read, out.write, err.write);
  // By number: the header of some C libraries declares it for C alone.
  ended_ = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  close_once(in.read);
  close_once(out.write);
  close_once(err.write);
  start_capture(out_, out.read);
  start_capture(err_, err.read);
  if (keep_input) {
    input_ = in.write;
    write_all(input_, what.input);
    return;
  }
  // A thread, as a large input fills the pipe before the program reads it.
  writer_ = std::thread([text = what.input, fd = in.write] {
    write_all(fd, text);
    ::close(fd);
  });
}

child_process::~child_process() {
  kill_all();
  reap(10s);
  close_input();
  if (writer_.joinable())
    writer_.join();
  stop_capture(out_);
  stop_capture(err_);
  close_once(ended_);
}

void child_process::start_capture(capture& from, int fd) {
  const auto wake = open_pipe();
  from.wake[0] = wake.read;
  from.wake[1] = wake.write;
  from.fd = fd;
  from.reader = std::thread([this, &from] { read_all(from); });
}

void child_process::stop_capture(capture& from) {
  // Grandchildren may hold the other end open, so the end of the text may
  // never come.
  close_once(from.wake[1]);
  if (from.reader.joinable())
    from.reader.join();
  close_once(from.wake[0]);
  close_once(from.fd);
}

void child_process::read_all(capture& from) {
  std::array<char, 65536> buffer;
  for (;;) {
    std::array<pollfd, 2> ready{
      {{from.fd, POLLIN, 0}, {from.wake[0], POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0)
      continue;
    if (ready[0].revents == 0)
      break;
    const auto size = ::read(from.fd, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR)
      continue;
    if (size <= 0)
      break;
    const std::lock_guard lock{mutex_};
    from.text.append(buffer.data(), static_cast<std::size_t>(size));
    changed_.notify_all();
  }
  const std::lock_guard lock{mutex_};
  from.ended = true;
  changed_.notify_all();
}

void child_process::wait_for(capture& from, std::string_view text,
                             std::size_t times, std::chrono::seconds limit) {
  const auto found = [&] {
    return count(from.text, text) >= times;
  };
  std::unique_lock lock{mutex_};
  changed_.wait_for(lock, limit, [&] { return found() || from.ended; });
  if (found())
    return;
  lock.unlock();
  fail("did not write '" + std::string(text) + "' " + std::to_string(times)
       + " times");
}

void child_process::wait_for_output(std::string_view text, std::size_t times,
                                    std::chrono::seconds limit) {
  wait_for(out_, text, times, limit);
}

void child_process::wait_for_error_output(std::string_view text,
                                          std::size_t times,
                                          std::chrono::seconds limit) {
  wait_for(err_, text, times, limit);
}

std::string child_process::output_so_far() {
  const std::lock_guard lock{mutex_};
  return out_.text;
}

void child_process::fail(const std::string& why) {
  const std::lock_guard lock{mutex_};
  throw std::runtime_error(name_ + " " + why + "\n--- its output:\n" + out_.text
                           + "\n--- its error output:\n" + err_.text);
}

void child_process::signal(int number) {
  if (!reaped_)
    ::kill(pid_, number);
}

void child_process::kill_all() {
  if (!reaped_)
    ::kill(-pid_, SIGKILL);
}

void child_process::write(std::string_view text) { write_all(input_, text); }

void child_process::close_input() { close_once(input_); }

void child_process::close_output() { stop_capture(out_); }

bool child_process::reap(std::chrono::milliseconds limit) {
  if (reaped_)
    return true;
  pollfd end{ended_, POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(limit.count())) <= 0)
    return false;
  int state = 0;
  rusage used{};
  if (::wait4(pid_, &state, 0, &used) != pid_)
    return false;
  reaped_ = true;
  peak_memory_bytes_ = static_cast<std::size_t>(used.ru_maxrss) * 1024;
  status_ = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
  return true;
}

bool child_process::ended(std::chrono::milliseconds within) {
  return reap(within);
}

command_result child_process::wait(std::chrono::seconds limit) {
  if (!reap(limit))
    fail("did not end within " + std::to_string(limit.count()) + " s");
  std::unique_lock lock{mutex_};
  // Grandchildren may hold the outputs open; theirs are not waited for long.
  changed_.wait_for(lock, 10s, [&] { return out_.ended && err_.ended; });
  return {status_, out_.text, err_.text, peak_memory_bytes_};
}

command_result run_command(const command& what, std::chrono::seconds limit) {
  child_process child{what};
  return child.wait(limit);
}

} // namespace sqlstreams::test
