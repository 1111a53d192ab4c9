#pragma once

#include <filesystem>
#include <string_view>

namespace sqlstreams {

/// A fresh folder for one run of a program that brings its own server: under
/// the build tree the program is in, or for an installed program under the
/// system's folder for temporary files. Removed with all that is in it at
/// destruction.
class work_folder {
public:
  /// Also clears away what runs of this kind that were killed have left behind,
  /// a private server included.
  /// @param kind of run, the beginning of the folder's name
  /// @throws std::filesystem::filesystem_error
  explicit work_folder(std::string_view kind);
  ~work_folder();
  work_folder(const work_folder&) = delete;
  work_folder& operator=(const work_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept {
    return path_;
  }

  /// Leaves the folder in place, now and at the start of later runs.
  void keep();

private:
  std::filesystem::path path_;
  bool kept_ = false;
};

/// Where a run's private server lives in its folder.
std::filesystem::path server_folder(const std::filesystem::path& work);

} // namespace sqlstreams
