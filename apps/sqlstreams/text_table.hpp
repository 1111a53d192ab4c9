#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sqlstreams {

/// Columns of text, aligned. Widths are counted in code points, which is right
/// for all but wide and combining characters. Pure.
class text_table {
public:
  enum class alignment { left, right };
  struct column {
    std::string title;
    alignment align = alignment::left;
  };

  explicit text_table(std::vector<column> columns);

  /// Adds a row; missing cells are empty. Control characters of a cell are
  /// shown escaped, so that a row stays a row.
  /// @pre not more cells than columns
  void add_row(std::vector<std::string> cells);

  /// Returns the table, a line a row, titles first, without trailing blanks.
  /// @param width columns of the screen; the widest cells are cut, marked by
  ///   an ellipsis, until the lines fit; 0: nothing is cut
  [[nodiscard]] std::string render(std::size_t width = 0) const;

private:
  std::vector<alignment> alignments_;
  std::vector<std::vector<std::string>> rows_; ///< titles first
};

/// Returns the number of code points in a UTF-8 text.
std::size_t display_width(std::string_view text);

/// Returns the text with control characters escaped (`\n`, `\x1b`), so that it
/// cannot change a terminal.
std::string printable(std::string_view text);

} // namespace sqlstreams
