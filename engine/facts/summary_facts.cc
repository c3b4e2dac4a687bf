// The summaries of `advise facts --tables`: the list and the values.
#include "engine/facts/fact_writer.h"
#include "engine/metrics/analysis.h"

namespace advise::facts {
namespace {

Rows RowsOf(const std::vector<SummaryRow>& summary, const std::string& unit) {
  Rows rows;
  for (const SummaryRow& row : summary) {
    rows.push_back({{"name", row.name},
                    {"count", static_cast<double>(row.count)},
                    {"total_" + unit, row.total},
                    {"share", row.share},
                    {"mean_" + unit, row.mean},
                    {"median_" + unit, row.median},
                    {"min_" + unit, row.min},
                    {"max_" + unit, row.max},
                    {"stddev_" + unit, row.stddev}});
  }
  return rows;
}

}  // namespace

std::vector<FactInfo> SummaryFactList() {
  const std::string columns =
      ": name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.";
  return {{"summary.kernels", "rows", "Kernels of the window by name" + columns},
          {"summary.calls", "rows", "CUDA calls that begin in the window by name" + columns},
          {"summary.copies", "rows", "Copies and memsets by direction, their times" + columns},
          {"summary.copy_sizes", "rows", "Copies and memsets by direction, their bytes" + columns},
          {"summary.ranges", "rows",
           "Ranges that begin in the window by name, numbers in it as #" + columns},
          {"summary.os_calls", "rows", "OS calls that begin in the window by name" + columns}};
}

void WriteSummaryFacts(const Analysis& a, FactWriter* w) {
  const Summaries& s = a.summaries;
  w->Table("summary.kernels", RowsOf(s.kernels, "ns"));
  w->Table("summary.calls", RowsOf(s.calls, "ns"));
  w->Table("summary.copies", RowsOf(s.copy_times, "ns"));
  w->Table("summary.copy_sizes", RowsOf(s.copy_sizes, "bytes"));
  w->Table("summary.ranges", RowsOf(s.ranges, "ns"));
  w->Table("summary.os_calls", RowsOf(s.os_calls, "ns"));
}

}  // namespace advise::facts
