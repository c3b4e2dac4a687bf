// summary.*: the summaries of `advise facts --tables`.
#include "engine/facts/declare.h"

namespace advise::facts {
namespace {

auto RowsOfSummary(std::vector<SummaryRow> Summaries::*summary, const std::string& unit) {
  return [summary, unit](const Summaries& summaries) {
    return RowsOf(summaries.*summary, [&](const SummaryRow& row) {
      return Row{{"name", row.name},
                 {"count", static_cast<double>(row.count)},
                 {"total_" + unit, row.total},
                 {"share", row.share},
                 {"mean_" + unit, row.mean},
                 {"median_" + unit, row.median},
                 {"min_" + unit, row.min},
                 {"max_" + unit, row.max},
                 {"stddev_" + unit, row.stddev}};
    });
  };
}

}  // namespace

void DeclareSummaryFacts(Catalog* catalog) {
  const std::string columns =
      ": name, count, total, share, mean, median, min, max, stddev; the 40 largest totals.";
  auto& summaries = catalog->Of(&Analysis::summaries);
  summaries.Add("summary.kernels", "rows", "Kernels of the window by name" + columns,
                RowsOfSummary(&Summaries::kernels, "ns"));
  summaries.Add("summary.calls", "rows", "CUDA calls that begin in the window by name" + columns,
                RowsOfSummary(&Summaries::calls, "ns"));
  summaries.Add("summary.copies", "rows", "Copies and memsets by direction, their times" + columns,
                RowsOfSummary(&Summaries::copy_times, "ns"));
  summaries.Add("summary.copy_sizes", "rows",
                "Copies and memsets by direction, their bytes" + columns,
                RowsOfSummary(&Summaries::copy_sizes, "bytes"));
  summaries.Add("summary.ranges", "rows",
                "Ranges that begin in the window by name, numbers in it as #" + columns,
                RowsOfSummary(&Summaries::ranges, "ns"));
  summaries.Add("summary.os_calls", "rows", "OS calls that begin in the window by name" + columns,
                RowsOfSummary(&Summaries::os_calls, "ns"));
  summaries.Add("summary.mpi", "rows", "MPI calls that begin in the window by name" + columns,
                RowsOfSummary(&Summaries::mpi, "ns"));
}

}  // namespace advise::facts
