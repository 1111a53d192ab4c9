#pragma once

#include "apps/dev_server/os_user.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// What a private server's folder remembers. A folder that holds it is ours.
struct server_record {
  std::uint16_t port = 0;
  std::string password{};
  std::vector<std::string> settings{}; ///< "name=value"

  /// Where data, log and socket are; empty: in the folder itself.
  std::filesystem::path home{};

  /// Where the socket is; empty: in the home. Elsewhere if the home's path is
  /// too long for a socket's name.
  std::filesystem::path sockets{};
};

/// Reads a folder's record; empty if it has none.
/// @throws error file_unreadable if there is one that cannot be read
std::optional<server_record> read_record(const std::filesystem::path& folder);

/// Replaces a folder's record in one step.
void write_record(const std::filesystem::path& folder,
                  const server_record& record,
                  const std::optional<os_user>& owner);

/// Replaces a file in one step; only its owner may read it.
void write_private_file(const std::filesystem::path& path,
                        std::string_view text,
                        const std::optional<os_user>& owner);

/// Makes the folder (mode 700, the owner's) and whatever parents it lacks.
/// @throws error invalid_option if it holds what is not a private server's
void make_server_folder(const std::filesystem::path& folder,
                        const std::optional<os_user>& owner);

/// Makes a new folder of mode 700 with a short path.
std::filesystem::path make_short_folder(const std::filesystem::path& parent,
                                        const std::optional<os_user>& owner);

/// Throws error invalid_option if the folder exists and is not a private
/// server's: it has no record, yet something else in it.
void refuse_foreign_folder(const std::filesystem::path& folder);

/// Removes what a private server leaves in its folder, and the folder itself
/// if nothing else is in it.
void remove_server_files(const std::filesystem::path& folder);

/// Holds a folder's lock file for as long as it lives: one process at a time
/// starts or stops the server. Waits for it.
class folder_lock {
public:
  folder_lock(const std::filesystem::path& folder,
              const std::optional<os_user>& owner);
  ~folder_lock();
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;

private:
  int file_ = -1;
};

} // namespace sqlstreams
