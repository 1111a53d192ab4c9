#pragma once

#include "config/diagnostic.hpp"

#include <stdexcept>
#include <string>
#include <string_view>

namespace sqlstreams {

/// The one exception of the library: a coded condition with what happened this
/// time. `what()` reads `SQL0005 stream_not_found: <detail>. Fix: <fix>`.
/// Secrets (passwords in URLs) never appear in it.
class error : public std::runtime_error {
public:
  /// @param detail what happened, with the values that matter, without a final
  ///   full stop; empty for the table's own sentence
  /// @param fix what to do; empty for the table's own sentence
  explicit error(code number, std::string detail = {}, std::string fix = {});

  /// As above, where this occurrence recovers differently from the table's row
  /// (a raw database error: its SQLSTATE decides).
  error(code number, recovery recover, std::string detail,
        std::string fix = {});

  [[nodiscard]] code number() const noexcept { return number_; }

  /// Whether an unchanged retry can help.
  [[nodiscard]] sqlstreams::recovery recover() const noexcept {
    return recover_;
  }

  /// What happened this time.
  [[nodiscard]] const std::string& detail() const noexcept { return detail_; }

  /// What to do about it.
  [[nodiscard]] const std::string& fix() const noexcept { return fix_; }

private:
  code number_;
  sqlstreams::recovery recover_;
  std::string detail_;
  std::string fix_;
};

} // namespace sqlstreams
