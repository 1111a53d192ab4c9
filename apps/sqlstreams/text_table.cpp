#include "apps/sqlstreams/text_table.hpp"

#include <algorithm>
#include <cassert>
#include <cstdio>
#include <numeric>

namespace sqlstreams {

namespace {

constexpr std::string_view gap = "  ";
constexpr std::string_view ellipsis = "\xe2\x80\xa6";
constexpr std::size_t narrowest = 6; ///< a cut column still says something

bool continues_character(char c) {
  return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u;
}

/// The first `width` code points, the last replaced by an ellipsis if more
/// follow.
std::string cut(const std::string& text, std::size_t width) {
  if (display_width(text) <= width)
    return text;
  std::size_t at = 0;
  for (std::size_t seen = 0; at < text.size(); ++at)
    if (!continues_character(text[at]) && seen++ == width - 1)
      break;
  return text.substr(0, at).append(ellipsis);
}

std::size_t line_width(const std::vector<std::size_t>& widths) {
  return std::accumulate(widths.begin(), widths.end(), std::size_t{0})
         + gap.size() * (widths.size() - 1);
}

/// Takes from the widest columns until the line fits or nothing is left to
/// take.
void narrow(std::vector<std::size_t>& widths, std::size_t available) {
  while (line_width(widths) > available) {
    auto widest = std::max_element(widths.begin(), widths.end());
    if (*widest <= narrowest)
      return;
    --*widest;
  }
}

} // namespace

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
    text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

std::string printable(std::string_view text) {
  std::string result;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", byte);
      result += escaped;
    } else {
      result += c;
    }
  }
  return result;
}

text_table::text_table(std::vector<column> columns) {
  assert(!columns.empty());
  std::vector<std::string> titles;
  for (auto& each : columns) {
    alignments_.push_back(each.align);
    titles.push_back(std::move(each.title));
  }
  rows_.push_back(std::move(titles));
}

void text_table::add_row(std::vector<std::string> cells) {
  assert(cells.size() <= alignments_.size());
  cells.resize(alignments_.size());
  for (auto& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

std::string text_table::render(std::size_t width) const {
  std::vector<std::size_t> widths(alignments_.size(), 0);
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i]));
  if (width > 0)
    narrow(widths, width);

  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const auto cell = cut(row[i], widths[i]);
      const std::string padding(widths[i] - display_width(cell), ' ');
      line.append(i > 0 ? gap : "");
      line +=
        alignments_[i] == alignment::right ? padding + cell : cell + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

} // namespace sqlstreams
