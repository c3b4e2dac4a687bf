// The summaries that people expect of a trace: by name, how often, how long in all, and how the
// lengths are spread.
#pragma once

#include <string>
#include <vector>

#include "engine/timeline/run.h"

namespace advise {

struct SummaryRow {
  std::string name;
  std::int64_t count = 0;
  double total = 0;  // ns or bytes, so all below
  double share = 0;  // of the total of the table
  double mean = 0;
  double median = 0;
  double min = 0;
  double max = 0;
  double stddev = 0;  // of all rows of that name, not of a sample
};

struct Summaries {
  std::vector<SummaryRow> kernels;     // by full name
  std::vector<SummaryRow> calls;       // CUDA or HIP calls
  std::vector<SummaryRow> copy_times;  // copies and memsets, by direction
  std::vector<SummaryRow> copy_sizes;  // the same in bytes
  std::vector<SummaryRow> ranges;      // by name with digits replaced by #
  std::vector<SummaryRow> os_calls;
  std::vector<SummaryRow> mpi;  // calls of MPI
};

inline constexpr std::size_t kSummaryRows = 40;  // a table; names are many, and the rest is small

// What begins inside the window, the largest totals first, at most kSummaryRows rows a table. O(n).
Summaries Summarize(const Run& run);

}  // namespace advise
