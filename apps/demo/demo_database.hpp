#pragma once

#include "apps/dev_server/private_server.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace sqlstreams::demo {

/// The database of one run: a private server, or a schema of its own on a
/// server that is there already. Either is gone after destruction.
class demo_database {
public:
  /// @param given address of a server; empty: start a private one
  /// @param work the run's folder
  /// @throws error server_binaries_missing, server_not_started
  demo_database(std::string given, const std::filesystem::path& work);
  ~demo_database();
  demo_database(const demo_database&) = delete;
  demo_database& operator=(const demo_database&) = delete;

  [[nodiscard]] const std::string& url() const noexcept { return url_; }
  [[nodiscard]] const std::string& schema() const noexcept { return schema_; }

  /// Says where it is, for people.
  [[nodiscard]] std::string description() const;

  /// Notes that the schema may exist from now on.
  void is_in_use() noexcept { in_use_ = true; }

  /// Leaves it as it is.
  void keep() noexcept { kept_ = true; }

private:
  std::optional<private_server> server_;
  std::string url_;
  std::string schema_ = "sqlstreams";
  bool in_use_ = false;
  bool kept_ = false;
};

} // namespace sqlstreams::demo
