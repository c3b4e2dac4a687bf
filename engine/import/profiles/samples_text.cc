// Reads samples without times:
//
//   folded stacks (perf, py-spy, bcc …)     main;train;load_batch 421
//   ncu --page source --csv                  "#","Address","Source","Warp Stall Sampling (All …)"
#include <algorithm>
#include <map>

#include "engine/import/formats.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

// A stack with its count: frames between ';', then a blank and a whole number.
struct Stack {
  std::string_view frames;
  double count = 0;
};
std::optional<Stack> StackOf(std::string_view line) {
  const std::size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  const std::string_view digits = line.substr(blank + 1);
  if (digits.empty() || digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  const auto count = NumberOf(digits);
  return count ? std::optional(Stack{Trimmed(line.substr(0, blank)), *count}) : std::nullopt;
}

std::string_view InnermostFrame(std::string_view frames) {
  const std::size_t at = frames.rfind(';');
  return at == std::string_view::npos ? frames : frames.substr(at + 1);
}

bool IsSourcePage(std::string_view line) {
  return (line.starts_with("\"#\",") || line.starts_with("#,")) &&
         line.find("Source") != std::string_view::npos;
}

}  // namespace

bool SniffFoldedStacks(std::string_view head) {
  std::size_t stacks = 0, deep = 0, lines = 0;
  for (const std::string_view line : LinesOf(head)) {
    if (Trimmed(line).empty() || line.starts_with("#")) continue;
    ++lines;
    const auto stack = StackOf(line);
    if (!stack) continue;
    ++stacks;
    deep += stack->frames.find(';') != std::string_view::npos ? 1 : 0;
  }
  // The head may end within a line.
  return stacks > 0 && stacks + 1 >= lines && 2 * deep >= stacks;
}

std::optional<Error> ReadFoldedStacks(std::string_view text, const std::string& path,
                                      Trace* trace) {
  trace->producer = "folded stacks";
  std::map<std::string, double, std::less<>> innermost;
  std::int64_t skipped = 0;
  for (const std::string_view line : LinesOf(text)) {
    if (Trimmed(line).empty() || line.starts_with("#")) continue;
    const auto stack = StackOf(line);
    if (!stack) {
      ++skipped;
      continue;
    }
    innermost[std::string(InnermostFrame(stack->frames))] += stack->count;
  }
  if (innermost.empty()) return Error{"the folded stacks hold no samples", path, "sample longer"};
  ProfileTable table{ProfileOf::kStacks, {}};
  for (const auto& [frame, count] : innermost) table.rows.push_back({frame, count, 0, -1});
  trace->table_rows["stacks"] = static_cast<std::int64_t>(table.rows.size());
  trace->profile.tables.push_back(std::move(table));
  if (skipped > 0) {
    trace->diagnostics.Add(Level::kWarning, "lines that are no stack with a count were skipped", "",
                           skipped);
  }
  return std::nullopt;
}

bool SniffNcuSource(std::string_view head) {
  const auto lines = LinesOf(head);
  return std::any_of(lines.begin(), lines.end(), IsSourcePage);
}

std::optional<Error> ReadNcuSource(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "Nsight Compute";
  ProfileTable table{ProfileOf::kInstructions, {}};
  std::size_t source = 0, samples = 0, width = 0;
  NumberStyle style;
  std::int64_t cut_short = 0;
  for (const std::string_view line : LinesOf(text)) {
    if (IsSourcePage(line)) {
      const auto heading = CellsOf(line);
      width = heading.size();
      const auto column = [&](std::string_view words) {
        return static_cast<std::size_t>(
            std::find_if(heading.begin(), heading.end(),
                         [&](const std::string& cell) { return cell.starts_with(words); }) -
            heading.begin());
      };
      source = column("Source");
      samples = column("Warp Stall Sampling (All");
      if (samples == width) samples = column("# Sampl");
      if (samples == width) samples = column("Sampling Data (All");
      if (samples == width || source == width) {
        return Error{samples == width
                         ? "the source page of Nsight Compute has no column of samples"
                         : "the source page of Nsight Compute has no column of sources",
                     path, "profile with: ncu --section SourceCounters --csv --page source"};
      }
    } else if (width > 0 && !Trimmed(line).empty()) {
      const auto cells = CellsOf(line);
      if (cells.size() != width) {
        ++cut_short;
      } else if (const auto count = style.Read(cells[samples]); count && *count > 0) {
        table.rows.push_back({std::string(Trimmed(cells[source])), *count, 0, -1});
      }
    }
  }
  if (cut_short > 0) {
    trace->diagnostics.Add(Level::kWarning, "rows that were cut short were skipped", "", cut_short);
  }
  if (table.rows.empty()) {
    return Error{"the source page of Nsight Compute holds no samples", path,
                 "profile a longer run of the kernel, with --section SourceCounters"};
  }
  trace->table_rows["instructions"] = static_cast<std::int64_t>(table.rows.size());
  trace->profile.tables.push_back(std::move(table));
  return std::nullopt;
}

}  // namespace advise
