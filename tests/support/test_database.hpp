#pragma once

#include <string>

namespace sqlstreams::test {

/// Returns the address of the tests' database: SQLSTREAMS_DATABASE_URL if set,
/// else the private server of this build tree, which is started if it does not
/// run (CTest starts it beforehand and stops it at the end).
/// @throws error if there is no server to be had
const std::string& database_url();

/// A schema name of this test alone: unique, lower case, short enough to be
/// part of longer identifiers. The schema is not created; whatever the test
/// creates under the name is dropped at destruction.
class fresh_schema {
public:
  fresh_schema();
  ~fresh_schema();
  fresh_schema(const fresh_schema&) = delete;
  fresh_schema& operator=(const fresh_schema&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

private:
  std::string name_;
};

} // namespace sqlstreams::test
