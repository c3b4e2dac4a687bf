// Reads the page that `ncu` prints when it is not asked for anything else:
//
//   [42] app@127.0.0.1
//     kernel(int *) (1024, 1, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.0
//       Section: GPU Speed Of Light Throughput
//       ----------------------- ----------- ------------
//       Metric Name             Metric Unit Metric Value
//       ----------------------- ----------- ------------
//       DRAM Frequency                  Ghz         1.21
//
//       OPT   Est. Speedup: 44.99%
//             What the profiler advises, over several lines.
//
// Until 2020 the line of a kernel has a date in place of the sizes, and tables have no heading. The
// program's own output stands before, between and after.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "engine/base/ascii.h"
#include "engine/import/formats.h"
#include "engine/import/ncu/ncu_metrics.h"
#include "engine/import/text_input.h"

namespace advise {
namespace {

constexpr std::string_view kSection = "Section: ";

bool IsSectionLine(std::string_view line) {
  return line.starts_with("  ") && Trimmed(line).starts_with(kSection);
}

// ", Context 1, Stream 7" behind the name of a kernel.
std::size_t ContextAt(std::string_view line) {
  constexpr std::string_view kContext = ", Context ";
  const std::size_t at = line.rfind(kContext);
  if (at == std::string_view::npos) return at;
  const std::string_view rest = line.substr(at + kContext.size());
  const bool told =
      !rest.empty() && IsDigit(rest.front()) && rest.find(", Stream ") != std::string_view::npos;
  return told ? at : std::string_view::npos;
}

// "(1024, 1, 1)"; nothing for other words.
std::optional<std::array<std::uint32_t, 3>> SizesOf(std::string_view text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')') return std::nullopt;
  const auto cells = CellsOf(text.substr(1, text.size() - 2));
  std::array<std::uint32_t, 3> sizes{};
  if (cells.size() != sizes.size()) return std::nullopt;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto number = NumberOf(cells[i]);
    if (!number || *number < 0) return std::nullopt;
    sizes[i] = WholeOf<std::uint32_t>(*number);
  }
  return sizes;
}

// Columns of a table, as the line of dashes under or above its heading draws them.
struct Ruler {
  std::array<std::size_t, 3> begin{}, end{};
};

// "Est. Speedup: 44.99%", "Est. Local Speedup: 98.86%", "Estimated Speedup: 12%".
std::optional<double> EstimateOf(std::string_view line) {
  const std::size_t at = line.find("Speedup: ");
  if (!line.starts_with("Est") || at == std::string_view::npos) return std::nullopt;
  std::string_view number = line.substr(at + 9);
  return NumberOf(number.substr(0, number.find('%')));
}

class NcuTextReader {
 public:
  NcuTextReader(Trace* trace, std::string path) : trace_(trace), path_(std::move(path)) {}

  void Read(std::string_view text) {
    const auto lines = LinesOf(text);
    // Numbers are written alike in all of a file.
    for (const bool learn : {true, false}) {
      learning_ = learn;
      for (line_ = 0; line_ < lines.size(); ++line_) ReadLine(lines[line_]);
      EndMessage();
      ruler_.reset();
      in_section_ = false;
    }
    for (KernelCounters& counters : trace_->counters)
      with_values_ += counters.metrics.empty() ? 0 : 1;
    if (empty_values_ > 0) {
      trace_->diagnostics.Add(Level::kInfo, "metrics that the profiler printed without a value", "",
                              empty_values_);
    }
    ncu::DescribeDevice(trace_);
    trace_->table_rows["kernels"] = static_cast<std::int64_t>(trace_->counters.size());
  }

  // Why nothing was measured; nothing when something was.
  std::optional<Error> Problem() const {
    if (with_values_ > 0) return std::nullopt;
    if (!error_.empty()) {
      return Error{
          fmt::format("Nsight Compute measured nothing: {} (line {})", error_, error_line_), path_,
          "run the program without the profiler first, then under compute-sanitizer"};
    }
    if (!empty_metric_.empty()) {
      return Error{
          fmt::format("no metric has a value: {} is n/a (line {}), so its name is misspelled "
                      "or this GPU does not have it",
                      empty_metric_, empty_line_),
          path_, "profile again with: ncu --set full -o report -- COMMAND"};
    }
    return Error{"the page of Nsight Compute holds no metrics", path_,
                 "profile again with: ncu --set full -o report -- COMMAND"};
  }

 private:
  void ReadLine(std::string_view line) {
    const std::string_view words = Trimmed(line);
    if (words.empty()) {
      EndMessage();
      ruler_.reset();
    } else if (line.starts_with("==ERROR==")) {
      if (error_.empty()) {
        error_ = Trimmed(line.substr(9));
        error_line_ = line_ + 1;
      }
    } else if (const std::size_t at = ContextAt(line); at != std::string_view::npos) {
      EndMessage();
      in_section_ = false;
      if (!learning_) BeginKernel(line, at);
    } else if (IsSectionLine(line)) {
      EndMessage();
      section_ = words.substr(kSection.size());
      in_section_ = true;
      ruler_.reset();
    } else if (in_section_) {
      ReadInSection(line, words);
    }
  }

  void ReadInSection(std::string_view line, std::string_view words) {
    const auto dashes = DashesOf(line);
    if (!dashes.empty()) {
      EndMessage();
      if (dashes.size() != 3) return;
      ruler_.emplace();
      for (std::size_t i = 0; i < 3; ++i) {
        std::tie(ruler_->begin[i], ruler_->end[i]) = dashes[i];
      }
      return;
    }
    static constexpr auto kMarks =
        std::to_array<std::string_view>({"OPT ", "INF ", "WRN ", "ERR ", "SOL "});
    const auto mark = std::find_if(kMarks.begin(), kMarks.end(), [&](std::string_view known) {
      return line.starts_with("  ") && words.starts_with(known);
    });
    if (mark != kMarks.end()) {
      EndMessage();
      ruler_.reset();
      if (*mark == "ERR " || learning_) return;
      message_.emplace();
      AddToMessage(Trimmed(words.substr(4)));
    } else if (message_) {
      AddToMessage(words);
    } else if (ruler_) {
      ReadMetric(line);
    }
  }

  void ReadMetric(std::string_view line) {
    const Ruler& ruler = *ruler_;
    if (line.size() <= ruler.begin[2]) return;
    const auto part = [&](std::size_t i) {
      return Trimmed(line.substr(ruler.begin[i], ruler.end[i] - ruler.begin[i]));
    };
    const std::string_view name = part(0);
    const std::string_view unit = part(1);
    const std::string_view value = Trimmed(line.substr(ruler.begin[2]));
    if (name.empty() || name == "Metric Name") return;
    if (learning_) {
      style_.Learn(value);
    } else if (!ncu::PutMetric(name, unit, value, style_, &Current()) &&
               (value.find("n/a") != std::string_view::npos ||
                value.find("nan") != std::string_view::npos)) {
      ++empty_values_;
      if (empty_metric_.empty()) {
        empty_metric_ = name;
        empty_line_ = line_ + 1;
      }
    }
  }

  void BeginKernel(std::string_view line, std::size_t context) {
    KernelCounters counters;
    counters.source = fmt::format("{}:{}", path_, line_ + 1);
    std::string_view name = Trimmed(line.substr(0, context));
    const std::size_t open = name.rfind(" (");
    const std::size_t between = name.rfind(")x(");
    if (between != std::string_view::npos) {
      const std::size_t grid_open = name.rfind(" (", between);
      if (grid_open != std::string_view::npos) {
        const auto grid = SizesOf(name.substr(grid_open + 1, between - grid_open));
        const auto block = SizesOf(name.substr(between + 2));
        if (grid && block) {
          counters.grid = *grid;
          counters.block = *block;
          name = Trimmed(name.substr(0, grid_open));
        }
      }
    } else if (const std::size_t date = name.rfind(", 20");
               date != std::string_view::npos && (open == std::string_view::npos || date > open)) {
      name = name.substr(0, date);  // ", 2020-Dec-09 10:00:00"
    }
    counters.kernel = name;
    const std::size_t capability = line.find(", CC ", context);
    if (capability != std::string_view::npos) {
      counters.compute_capability = Trimmed(line.substr(capability + 5));
    }
    trace_->counters.push_back(std::move(counters));
  }

  // The kernel of the line; one without a name where the page begins in the middle.
  KernelCounters& Current() {
    if (trace_->counters.empty()) {
      KernelCounters counters;
      counters.kernel = kNamelessKernel;
      counters.source = fmt::format("{}:{}", path_, line_ + 1);
      trace_->counters.push_back(std::move(counters));
      trace_->diagnostics.Add(Level::kInfo, "the page begins without the name of its first kernel");
    }
    return trace_->counters.back();
  }

  void AddToMessage(std::string_view words) {
    if (const auto estimate = EstimateOf(words)) {
      // A local estimate is of the section's own metric, not of the kernel.
      const bool local = words.find("Local") != std::string_view::npos;
      message_->speedup_percent = local ? -1 : *estimate;
    } else {
      message_->text += message_->text.empty() ? "" : " ";
      message_->text += words;
    }
  }

  void EndMessage() {
    if (!message_) return;
    message_->section = section_;
    message_->rule = section_;  // the page does not name its rules
    Current().advice.push_back(std::move(*message_));
    message_.reset();
  }

  Trace* trace_;
  std::string path_;
  NumberStyle style_;
  bool learning_ = false;
  std::size_t line_ = 0;
  bool in_section_ = false;
  std::string section_;
  std::optional<Ruler> ruler_;
  std::optional<CounterAdvice> message_;
  std::size_t with_values_ = 0;
  std::int64_t empty_values_ = 0;
  std::string empty_metric_, error_;
  std::size_t empty_line_ = 0, error_line_ = 0;
};

}  // namespace

bool SniffNcuText(std::string_view head) {
  const auto lines = LinesOf(head);
  for (std::size_t i = 0; i + 1 < lines.size(); ++i) {
    if (!IsSectionLine(lines[i])) continue;
    const std::string_view next = Trimmed(lines[i + 1]);
    const bool marked = next.starts_with("OPT ") || next.starts_with("INF ") ||
                        next.starts_with("WRN ") || next.starts_with("ERR ");
    if (marked || DashesOf(lines[i + 1]).size() == 3) return true;
  }
  return false;
}

std::optional<Error> ReadNcuText(std::string_view text, const std::string& path, Trace* trace) {
  trace->producer = "Nsight Compute";
  NcuTextReader reader(trace, path);
  reader.Read(text);
  return reader.Problem();
}

}  // namespace advise
