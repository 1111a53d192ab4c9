#include "tests/support/scratch_folder.hpp"

#include <stdexcept>
#include <system_error>

#include <stdlib.h>

namespace sqlstreams::test {

scratch_folder::scratch_folder() {
  auto pattern =
    (std::filesystem::temp_directory_path() / "sqlstreams-XXXXXX").string();
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error("no folder for the test");
  path_ = pattern;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

} // namespace sqlstreams::test
