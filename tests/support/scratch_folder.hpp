#pragma once

#include <filesystem>

namespace sqlstreams::test {

/// A new folder for files of one test, removed with all that is in it.
class scratch_folder {
public:
  /// @throws std::runtime_error
  scratch_folder();
  ~scratch_folder();
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept {
    return path_;
  }

private:
  std::filesystem::path path_;
};

} // namespace sqlstreams::test
