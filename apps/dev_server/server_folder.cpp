#include "apps/dev_server/server_folder.hpp"

#include "config/error.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sqlstreams {
namespace {

namespace fs = std::filesystem;

constexpr auto record_name = "private-server.json";
constexpr auto lock_name = "lock";

[[noreturn]] void throw_unusable(const std::string& doing,
                                 const fs::path& path) {
  const auto denied = errno == EACCES || errno == EPERM;
  throw error{code::file_unreadable,
              "cannot " + doing + ' ' + path.string() + ": "
                + std::strerror(errno),
              denied ? "run as the user that owns it or as root, or choose "
                       "another folder with --data"
                     : "choose another folder with --data"};
}

void give(int file, const fs::path& path, const std::optional<os_user>& owner) {
  if (owner && fchown(file, owner->uid, owner->gid) != 0)
    throw_unusable("change the owner of", path);
}

void give_folder(const fs::path& path, const std::optional<os_user>& owner) {
  if (owner && lchown(path.c_str(), owner->uid, owner->gid) != 0)
    throw_unusable("change the owner of", path);
}

void make_parents(const fs::path& folder) {
  struct stat above {};
  if (stat(folder.c_str(), &above) == 0)
    return;
  make_parents(folder.parent_path());
  // What root makes in a user's tree is that user's.
  stat(folder.parent_path().c_str(), &above);
  if (mkdir(folder.c_str(), 0755) != 0 && errno != EEXIST)
    throw_unusable("make", folder);
  if (geteuid() == 0 && lchown(folder.c_str(), above.st_uid, above.st_gid) != 0)
    throw_unusable("change the owner of", folder);
}

} // namespace

std::optional<server_record> read_record(const fs::path& folder) {
  const auto path = folder / record_name;
  std::ifstream file{path};
  if (!file) {
    if (errno != ENOENT && errno != ENOTDIR)
      throw_unusable("read", path);
    return std::nullopt;
  }
  try {
    const auto json = nlohmann::json::parse(file);
    return server_record{
      .port = json.at("port").get<std::uint16_t>(),
      .password = json.at("password").get<std::string>(),
      .settings = json.at("settings").get<std::vector<std::string>>(),
      .home = json.at("home").get<std::string>(),
      .sockets = json.at("sockets").get<std::string>(),
    };
  } catch (const nlohmann::json::exception& e) {
    throw error{code::file_unreadable,
                "the record " + path.string() + " is damaged: " + e.what(),
                "remove the folder and start again"};
  }
}

void write_record(const fs::path& folder, const server_record& record,
                  const std::optional<os_user>& owner) {
  const nlohmann::json json{
    {"port", record.port},
    {"password", record.password},
    {"settings", record.settings},
    {"home", record.home.string()},
    {"sockets", record.sockets.string()},
  };
  write_private_file(folder / record_name, json.dump(2) + '\n', owner);
}

void write_private_file(const fs::path& path, std::string_view text,
                        const std::optional<os_user>& owner) {
  auto draft = path;
  draft += ".new";
  unlink(draft.c_str());
  // Exclusive and not through links: root writes into folders of others.
  const int file = open(
    draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0)
    throw_unusable("write", draft);
  give(file, draft, owner);
  const auto written = write(file, text.data(), text.size());
  if (close(file) != 0 || written != static_cast<ssize_t>(text.size()))
    throw_unusable("write", draft);
  if (rename(draft.c_str(), path.c_str()) != 0)
    throw_unusable("write", path);
}

void make_server_folder(const fs::path& folder,
                        const std::optional<os_user>& owner) {
  refuse_foreign_folder(folder);
  make_parents(folder.parent_path());
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    throw_unusable("make", folder);
  give_folder(folder, owner);
}

fs::path make_short_folder(const fs::path& parent,
                           const std::optional<os_user>& owner) {
  auto path = (parent / "sqlstreams-XXXXXX").string();
  if (!mkdtemp(path.data()))
    throw_unusable("make a folder in", parent);
  give_folder(path, owner);
  return path;
}

void refuse_foreign_folder(const fs::path& folder) {
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(folder, failure)))
    return;
  if (read_record(folder))
    return;
  for (const auto& entry : fs::directory_iterator{folder, failure}) {
    const auto name = entry.path().filename();
    // Left by a start that was killed before it wrote the record.
    if (name == lock_name || name == std::string{record_name} + ".new")
      continue;
    throw error{code::invalid_option,
                "--data " + folder.string()
                  + " is not the folder of a private server: it holds "
                  + name.string(),
                "name an empty folder or one that does not exist"};
  }
  if (failure) {
    errno = failure.value();
    throw_unusable("read", folder);
  }
}

void remove_server_files(const fs::path& folder) {
  for (const auto* name :
       {"data", "data.new", "server.log", "password.new", "password"})
    fs::remove_all(folder / name);
  // The record goes late: until then an interrupted removal can be repeated.
  fs::remove(folder / record_name);
  fs::remove(folder / lock_name);
  std::error_code not_empty;
  fs::remove(folder, not_empty);
}

folder_lock::folder_lock(const fs::path& folder,
                         const std::optional<os_user>& owner) {
  const auto path = folder / lock_name;
  for (;;) {
    file_ = open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file_ < 0)
      throw_unusable("open", path);
    give(file_, path, owner);
    while (flock(file_, LOCK_EX) != 0)
      if (errno != EINTR)
        throw_unusable("lock", path);
    // Whoever held it may have removed the folder: then it is another file.
    struct stat held {};
    struct stat named {};
    fstat(file_, &held);
    if (stat(path.c_str(), &named) == 0 && held.st_ino == named.st_ino)
      return;
    close(file_);
  }
}

folder_lock::~folder_lock() { close(file_); }

} // namespace sqlstreams
