#include "apps/demo/consumer_fleet.hpp"

#include "apps/demo/consumer_role.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sqlstreams::demo {

namespace {

using namespace std::chrono_literals;

constexpr std::string_view url_variable = "SQLSTREAMS_DATABASE_URL=";

std::vector<std::string> environment_with(const std::string& url) {
  std::vector<std::string> result{std::string{url_variable} + url};
  for (char** entry = environ; *entry; ++entry)
    if (!std::string_view{*entry}.starts_with(url_variable))
      result.emplace_back(*entry);
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// How a process is to start: nothing to read, output into a file, a process
/// group of its own (Ctrl-C is for the demo, which then stops it in order),
/// signals as usual.
class start_settings {
public:
  explicit start_settings(const std::filesystem::path& log) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, log.c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_init(&attributes_);
    sigset_t usual;
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE);
    posix_spawnattr_setsigdefault(&attributes_, &usual);
    // Asked to stop before it can listen, a consumer must not just die.
    sigset_t held_back;
    sigemptyset(&held_back);
    sigaddset(&held_back, SIGTERM);
    posix_spawnattr_setsigmask(&attributes_, &held_back);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP
                                             | POSIX_SPAWN_SETSIGDEF
                                             | POSIX_SPAWN_SETSIGMASK);
  }
  ~start_settings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  start_settings(const start_settings&) = delete;
  start_settings& operator=(const start_settings&) = delete;

  [[nodiscard]] const posix_spawn_file_actions_t* files() const {
    return &files_;
  }
  [[nodiscard]] const posix_spawnattr_t* attributes() const {
    return &attributes_;
  }

private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

int exit_status(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

} // namespace

consumer_fleet::consumer_fleet(std::filesystem::path work, std::string url,
                               std::string schema)
  : work_{std::move(work)}, url_{std::move(url)}, schema_{std::move(schema)} {}

consumer_fleet::~consumer_fleet() {
  for (const auto& process : processes_)
    if (!process.status)
      ::kill(process.pid, SIGKILL);
  for (const auto& process : processes_)
    while (!process.status && ::waitpid(process.pid, nullptr, 0) < 0
           && errno == EINTR)
      continue;
}

void consumer_fleet::start_one() {
  consumer_process next{.number = static_cast<int>(processes_.size()) + 1};
  std::vector<std::string> arguments{
    "sqlstreams-demo", "--as-consumer", std::to_string(next.number),
    "--folder",        work_.string(),  "--schema",
    schema_,           "--parent",      std::to_string(::getpid())};
  auto environment = environment_with(url_);
  const start_settings settings{log_path(work_, next.number)};
  const int failed = ::posix_spawn(
    &next.pid, "/proc/self/exe", settings.files(), settings.attributes(),
    pointers(arguments).data(), pointers(environment).data());
  if (failed != 0)
    throw std::system_error{failed, std::generic_category(),
                            "a consumer process cannot be started"};
  processes_.push_back(next);
}

void consumer_fleet::look() {
  for (auto& process : processes_) {
    int status = 0;
    if (!process.status && ::waitpid(process.pid, &status, WNOHANG) > 0)
      process.status = exit_status(status);
  }
}

void consumer_fleet::kill(int number) {
  for (auto& process : processes_) {
    if (process.number != number || process.status)
      continue;
    process.killed = true;
    ::kill(process.pid, SIGKILL);
  }
}

bool consumer_fleet::stop(std::chrono::seconds limit) {
  for (const auto& process : processes_)
    if (!process.status)
      ::kill(process.pid, SIGTERM);
  const auto until = std::chrono::steady_clock::now() + limit;
  for (look(); running(); look()) {
    if (std::chrono::steady_clock::now() > until)
      return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

bool consumer_fleet::running() const noexcept {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return !process.status; });
}

} // namespace sqlstreams::demo
