#include "engine/report/care_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/text.h"

namespace advise {
namespace {

constexpr int kLinesOfMessage = 2;  // of the profiler, which says more than a reader needs

// A file that is damaged or was cut off stands first; where there is no GPU work, all that may be
// why.
std::vector<std::string> CareLines(const Report& report, int room_of_message, int* damaged) {
  std::vector<std::string> lines;
  for (const CareNote& note : report.read_with_care) {
    const bool cut = note.care == Care::kProfilerMessage && room_of_message > 0;
    lines.push_back(cut ? CutEnd(note.text, room_of_message) : note.text);
  }
  const bool why_empty = report.run.kind == "no-gpu";
  std::size_t first = 0;
  for (const Diagnostic& item : report.diagnostics) {
    const bool said = std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(item.text) != std::string::npos;
    });
    if (item.level == Level::kInfo || said) continue;
    // What could not be read comes before what is only unsure.
    const bool before = why_empty || item.level == Level::kError;
    *damaged += item.level == Level::kError ? 1 : 0;
    const std::string count = FormatQuantity(static_cast<double>(item.count), "count");
    lines.insert(before ? lines.begin() + static_cast<std::ptrdiff_t>(first++) : lines.end(),
                 item.count <= 1 ? item.text
                 : item.text.starts_with("events ")
                     ? count + " " + item.text
                     : fmt::format("{} ({} times)", item.text, count));
  }
  return lines;
}

}  // namespace

void WriteCare(Page& page, const Report& report, int column, int most) {
  // A line is seldom full: words are not broken.
  constexpr int kBroken = 8;
  const bool all = most == std::numeric_limits<int>::max();
  int damaged = 0;
  const std::vector<std::string> lines =
      CareLines(report, all ? 0 : kLinesOfMessage * (page.width() - column - kBroken), &damaged);
  most = std::max(most, damaged);  // what could not be read is always said
  std::string label = "Read with care";
  std::size_t shown = 0;
  for (int rows = 0; most > 0 && shown < lines.size(); ++shown) {
    Page line = page.Another();
    line.Labelled(label, 0, column, lines[shown], Ink::kYellow);
    rows += line.rows();
    // The last line needs no line that says how many are left.
    const bool last = shown + 1 == lines.size();
    if (shown > 0 && rows + (last ? 0 : 1) > most) break;
    page.Append(line);
    label.clear();
  }
  const std::size_t left = lines.size() - shown;
  if (left > 0 && most == 0) {
    page.Labelled(label, 0, column, fmt::format("{} remark{}: -v", left, left == 1 ? "" : "s"));
  } else if (left > 0 && most > 1) {
    page.Labelled("", 0, column, fmt::format("and {} more: -v", left));
  }
  label = "Changed by the site";
  for (const std::string& change : report.site_changes) {
    page.Labelled(label, 0, column, change);
    label.clear();
  }
}

}  // namespace advise
