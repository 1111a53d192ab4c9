#pragma once
// The ledger: what handlers say they did, in plain files outside the database.
// It is what the demo's verdict rests on.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams::demo {

/// How a run of the handler ended.
enum class ledger_mark : std::uint8_t {
  done,     ///< the order is charged
  declined, ///< to be tried again
};

/// One run of a handler. In a file: `id order attempt pid mark` and a newline.
struct ledger_entry {
  std::int64_t message = 0; ///< the message's id
  std::int64_t order = 0;
  std::int64_t attempt = 0; ///< zero-based
  std::int64_t pid = 0;     ///< of the consumer process
  ledger_mark mark = ledger_mark::done;

  bool operator==(const ledger_entry&) const = default;
};

/// Returns the entry as a line, with its newline.
std::string to_line(const ledger_entry& entry);

/// Reads what `to_line` writes, without the newline; empty for anything else.
std::optional<ledger_entry> parse_ledger_line(std::string_view line);

/// Appends to a ledger, also from several threads: each entry is one write to
/// a descriptor in append mode, so lines stay whole, and what was written
/// survives the death of the process.
class ledger_writer {
public:
  /// @throws error file_unreadable
  explicit ledger_writer(const std::filesystem::path& path);
  ~ledger_writer();
  ledger_writer(const ledger_writer&) = delete;
  ledger_writer& operator=(const ledger_writer&) = delete;

  /// @throws std::system_error if the entry is not written
  void append(const ledger_entry& entry);

private:
  int file_ = -1;
};

/// Follows a ledger that grows. A file that does not exist yet is empty.
class ledger_reader {
public:
  explicit ledger_reader(std::filesystem::path path);

  /// Returns the whole lines that came since the last call.
  std::vector<std::string> new_lines();

  /// Returns the rest after the last newline: empty unless a write was cut.
  [[nodiscard]] const std::string& rest() const noexcept { return rest_; }

private:
  std::filesystem::path path_;
  std::uintmax_t offset_ = 0;
  std::string rest_;
};

} // namespace sqlstreams::demo
