// Laying out words in columns: display width, wrapping, color, and the page that renderers write
// on. Knows nothing of findings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace advise {

// Columns that UTF-8 text takes on a terminal: wide East Asian characters count two, combining
// marks none.
int DisplayWidth(std::string_view utf8);

// `text` with spaces added on the right (or left) up to `width` columns; never cut.
std::string PadRight(std::string_view text, int width);
std::string PadLeft(std::string_view text, int width);

// `text` in at most `width` columns: what does not fit is cut off the end (of a sentence) or out of
// the middle (of a name, whose end tells it from others) and shown as "…".
std::string CutEnd(std::string_view text, int width);
std::string CutMiddle(std::string_view text, int width);

// Each name in at most `width` columns, cut so that names that differ still do: where only their
// middle differs, that is what stays.
std::vector<std::string> ShortenedApart(const std::vector<std::string>& names, int width);

// Lines of at most `width` columns, broken between words. A word longer than the line (an address,
// a path) stays whole, and a number stays with its unit. Never empty.
std::vector<std::string> WrapWords(std::string_view text, int width);

// Our own words as a cell of a Markdown table: a bar would end the cell.
std::string MarkdownCell(std::string_view text);

enum class Ink { kPlain, kBold, kDim, kRed, kYellow, kCyan, kGreen };

// Text in lines of at most `width` columns, with color when the reader's terminal takes it.
class Page {
 public:
  Page(int width, bool color) : width_(width < 40 ? 40 : width), color_(color) {}

  int width() const { return width_; }
  // The one door for foreign text: made safe to print, then colored.
  std::string Paint(std::string_view text, Ink ink) const;

  void Blank();                      // one empty line; never two in a row, never at the top
  void Line(std::string_view text);  // never wrapped; what a trace named must come from Paint
  void Wrapped(std::string_view text, int indent = 0, Ink ink = Ink::kPlain);
  // "label   text …" with the text in a column of its own, starting at column `column`.
  void Labelled(std::string_view label, int indent, int column, std::string_view text,
                Ink ink = Ink::kPlain);
  // Lines that must stay as they are (code, commands), each indented.
  void Verbatim(std::string_view text, int indent, Ink ink = Ink::kPlain);
  // Parts that belong together, in as few lines as they need; only `separator` is broken.
  void Parts(std::string_view label, int column, const std::vector<std::string>& parts,
             std::string_view separator);
  // All of another page, such as one that was written to see how long it is.
  void Append(const Page& other);
  // An empty page of the same width and color.
  Page Another() const { return {width_, color_}; }

  // Lines on a terminal of this width, where a line that is longer goes on in the next.
  int rows() const { return rows_; }
  const std::string& text() const { return text_; }

 private:
  int width_;
  bool color_;
  std::string text_;
  int rows_ = 0;
};

// A table of plain cells: columns as wide as their widest cell; when the table is wider than the
// page, its widest column is cut. Columns whose name ends in '>' are set to the right.
void WriteTable(Page& page, const std::vector<std::string>& header,
                const std::vector<std::vector<std::string>>& rows, int indent);

}  // namespace advise
