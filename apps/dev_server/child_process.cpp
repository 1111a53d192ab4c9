#include "apps/dev_server/child_process.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

// Between fork and exec only system calls: another thread of the parent may
// have held the allocator's lock.
bool become(const std::optional<os_user>& user) {
  return !user
         || (setgroups(user->groups.size(), user->groups.data()) == 0
             && setgid(user->gid) == 0 && setuid(user->uid) == 0);
}

std::vector<std::string> clean_environment() {
  std::vector<std::string> result{"LC_ALL=C"};
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text{*entry};
    if (!text.starts_with("PG") && !text.starts_with("LC_")
        && !text.starts_with("LANG"))
      result.emplace_back(text);
  }
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (auto& text : texts)
    result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

pid_t fork_or_throw() {
  const auto child = fork();
  if (child < 0)
    throw std::system_error{errno, std::generic_category(), "fork"};
  return child;
}

/// Answers a question as another user sees it.
template <class Question>
bool ask_as(const std::optional<os_user>& user, Question question) {
  if (!user)
    return question();
  const auto child = fork_or_throw();
  if (child == 0)
    _exit(become(user) && question() ? 0 : 1);
  return wait_for(child) == 0;
}

} // namespace

child_result run_child(const std::vector<std::string>& arguments,
                       const fs::path& folder,
                       const std::optional<os_user>& user) {
  auto texts = arguments;
  auto environment = clean_environment();
  const auto argv = pointers(texts);
  const auto envp = pointers(environment);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw std::system_error{errno, std::generic_category(), "pipe"};

  const auto child = fork_or_throw();
  if (child == 0) {
    const int nothing = open("/dev/null", O_RDONLY);
    dup2(nothing, STDIN_FILENO);
    dup2(pipe_ends[1], STDOUT_FILENO);
    dup2(pipe_ends[1], STDERR_FILENO);
    // A server lives on: it must not keep our caller's pipes and locks open.
    close_range(STDERR_FILENO + 1, ~0U, 0);
    if (become(user) && chdir(folder.c_str()) == 0)
      execve(argv[0], argv.data(), envp.data());
    const char* reason = std::strerror(errno);
    [[maybe_unused]] auto written =
      write(STDERR_FILENO, reason, std::strlen(reason));
    _exit(127);
  }

  close(pipe_ends[1]);
  child_result result;
  std::array<char, 4096> buffer{};
  for (;;) {
    const auto size = read(pipe_ends[0], buffer.data(), buffer.size());
    if (size > 0)
      result.output.append(buffer.data(), static_cast<std::size_t>(size));
    else if (size == 0 || errno != EINTR)
      break;
  }
  close(pipe_ends[0]);
  result.status = wait_for(child);
  return result;
}

bool may_enter(const fs::path& folder, const std::optional<os_user>& user) {
  return ask_as(
    user, [path = folder.c_str()] { return access(path, R_OK | X_OK) == 0; });
}

bool works_in(pid_t pid, const fs::path& folder,
              const std::optional<os_user>& user) {
  // Asked as the server's user: in a container even root may lack the right to
  // look into another user's process.
  const auto link = "/proc/" + std::to_string(pid) + "/cwd";
  return ask_as(user, [link = link.c_str(), path = folder.c_str()] {
    struct stat of_process {};
    struct stat of_folder {};
    return stat(link, &of_process) == 0 && stat(path, &of_folder) == 0
           && of_process.st_dev == of_folder.st_dev
           && of_process.st_ino == of_folder.st_ino;
  });
}

} // namespace sqlstreams
