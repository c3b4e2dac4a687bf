// What charts and timelines of a report show, ready to be drawn: renderers do no arithmetic on it.
// Filled only for formats that draw (see BuildViews); a view without data is empty.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "engine/metrics/charts/chart_data.h"
#include "engine/metrics/charts/excerpt.h"
#include "engine/metrics/kernels/kernel_table.h"

namespace advise {

// The surroundings of one finding's worst example.
struct FindingTimeline {
  int finding = 0;     // Finding::rank
  std::string rule;    // its id
  Nanos start_ns = 0;  // the example itself
  Nanos end_ns = 0;
  std::string what;  // "the longest gap on the GPU that this explains"
  std::string note;  // how to read it, where it is not plain; may be empty
  Excerpt excerpt;
};

// The line of the program that a finding's worst example comes from, where the capture tells.
struct FindingSource {
  int finding = 0;   // Finding::rank
  std::string rule;  // its id
  std::string file;  // as recorded
  int line = 0;
  std::string function;
};

struct ReportViews {
  std::vector<FindingSource> sources;      // of findings in their order; not each has one
  std::vector<FindingTimeline> timelines;  // of findings in their order; not each has one
  // Findings that have none, and why: Finding::rank and the reason.
  std::vector<std::pair<int, std::string>> without_timeline;
  // What could not be drawn at all, and why: whole sentences.
  std::vector<std::string> not_drawn;
  // Of several reports, copies, kernels, samples and counters are those of one: "rank 0".
  std::string charts_of;
  std::vector<StepPoint> steps;
  std::vector<CopySizeBin> copy_sizes;
  std::vector<KernelTotal> kernels;  // most time first
  std::size_t kernels_left_out = 0;  // with least time
  std::vector<ThinSeries> samples;
  LatenessMatrix lateness;
  Roofline roofline;
};

// One finding's surroundings in full, and what each finding says of that time.
struct FindingSlice {
  struct Mark {
    int finding = 0;  // Finding::rank
    std::string title;
    std::string text;              // "the longest such copy", empty: time that the finding claims
    std::uint32_t device = kNone;  // of time that it claims
    Nanos start_ns = 0;
    Nanos end_ns = 0;
  };
  int finding = 0;
  std::vector<std::string> devices;  // names, as Trace::devices: "GPU 0, NVIDIA H100"
  Excerpt excerpt;
  std::vector<Mark> marks;  // by finding, then time
};

}  // namespace advise
