#include "apps/demo/ledger.hpp"

#include "config/error.hpp"

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sqlstreams::demo {

namespace {

constexpr std::string_view done_mark = "done";
constexpr std::string_view declined_mark = "declined";

/// Takes the text up to the next blank, or all that is left.
std::string_view take_word(std::string_view& text) {
  const auto word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(text.size(), word.size() + 1));
  return word;
}

bool take_number(std::string_view& text, std::int64_t& number) {
  const auto word = take_word(text);
  const auto* end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, number);
  return !word.empty() && read.ec == std::errc{} && read.ptr == end;
}

std::optional<ledger_mark> parse_mark(std::string_view text) {
  if (text == done_mark)
    return ledger_mark::done;
  if (text == declined_mark)
    return ledger_mark::declined;
  return std::nullopt;
}

} // namespace

std::string to_line(const ledger_entry& entry) {
  std::string line;
  for (const auto number :
       {entry.message, entry.order, entry.attempt, entry.pid})
    line += std::to_string(number) + ' ';
  line += entry.mark == ledger_mark::done ? done_mark : declined_mark;
  return line += '\n';
}

std::optional<ledger_entry> parse_ledger_line(std::string_view line) {
  ledger_entry entry;
  for (auto* number :
       {&entry.message, &entry.order, &entry.attempt, &entry.pid})
    if (!take_number(line, *number))
      return std::nullopt;
  const auto mark = parse_mark(line);
  if (!mark)
    return std::nullopt;
  entry.mark = *mark;
  return entry;
}

ledger_writer::ledger_writer(const std::filesystem::path& path)
  : file_{
    ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644)} {
  if (file_ < 0)
    throw error(code::file_unreadable,
                "the ledger '" + path.string()
                  + "' cannot be opened: " + std::strerror(errno));
}

ledger_writer::~ledger_writer() { ::close(file_); }

void ledger_writer::append(const ledger_entry& entry) {
  const auto line = to_line(entry);
  ssize_t written = 0;
  do
    written = ::write(file_, line.data(), line.size());
  while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(line.size()))
    throw std::system_error{written < 0 ? errno : ENOSPC,
                            std::generic_category(), "ledger"};
}

ledger_reader::ledger_reader(std::filesystem::path path)
  : path_{std::move(path)} {}

std::vector<std::string> ledger_reader::new_lines() {
  std::vector<std::string> lines;
  std::ifstream file{path_, std::ios::binary};
  file.seekg(static_cast<std::streamoff>(offset_));
  std::array<char, 65536> block{};
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    std::string_view text{block.data(),
                          static_cast<std::size_t>(file.gcount())};
    offset_ += text.size();
    for (auto end = text.find('\n'); end != std::string_view::npos;
         end = text.find('\n')) {
      lines.push_back(rest_.append(text.substr(0, end)));
      rest_.clear();
      text.remove_prefix(end + 1);
    }
    rest_ += text;
  }
  return lines;
}

} // namespace sqlstreams::demo
