// A trace made ready for questions: names looked up, calls and ops tied together, the time window
// chosen. Built once; every metric reads it. Rows are never copied: indices point into the Trace.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "engine/timeline/names.h"
#include "engine/trace/intervals.h"
#include "engine/trace/tables.h"

namespace advise {

struct WindowRequest {
  enum class Mode { kAuto, kAll, kSteady, kGiven } mode = Mode::kAuto;
  double from_s = 0;  // kGiven: seconds on the clock of the trace
  double to_s = 0;
};

struct Window {
  std::string mode = "all";  // "all" | "steady" | "given"
  Nanos start = 0;
  Nanos end = 0;
  // What a given window counts from: zero of the trace's clock; of normalized clocks (nanoseconds
  // since 1970), the first event that was recorded, on the host or on a GPU.
  Nanos origin = 0;
  Nanos Length() const { return end - start; }
};

struct Step {
  Nanos start = 0;
  Nanos end = 0;
  Nanos Length() const { return end - start; }
};

struct Steps {
  std::string source;                 // "annotation" | "range" | "period" | "" when there are none
  std::string name;                   // of the ranges, or of the kernel that opens each period
  std::vector<Step> all;              // in time order, warm-up included
  std::size_t first_steady = 0;       // the first after warm-up
  std::vector<std::size_t> outliers;  // indices into all, inside the steady part, ascending
  std::uint32_t thread = kNone;       // of the ranges
  bool of_device = false;       // times of the GPU's work: the host launches it in its own time
  bool uneven = false;          // each does what is asked for: a longer one is no warm-up
  bool handed_over = false;     // another thread launches the work, at times of its own
  std::size_t recordings = 1;   // of which these are of the longest: the profiler paused between
  Interval standstill;          // a pause of the whole program, beside which these are
  std::size_t named = 0;        // ranges that stand for steps, whether work was launched in them
  std::string why_layers;       // why what repeats are layers of one pass, and no steps
  std::vector<Step> offloaded;  // those layers, where each uploads its weights before it runs
  bool known() const { return all.size() > first_steady; }
  std::size_t steady_count() const { return all.size() - first_steady; }
  bool IsOutlier(std::size_t step) const {  // O(log n)
    return std::binary_search(outliers.begin(), outliers.end(), step);
  }
  // The step that a time lies in; kNone for none. O(log n).
  std::uint32_t At(Nanos time) const;
  Nanos Median() const;  // of the steady steps without outliers; 0 when none
  Nanos Mean() const;    // of all steady steps; 0 when none
};

struct Run {
  Run(const Trace& trace_in, const Knowledge& knowledge_in);

  const Trace& trace;
  const Knowledge& knowledge;
  Names names;

  std::vector<std::uint32_t> first_op_of_call;  // a call's first op in time, kNone
  std::vector<RowRange> calls_of_thread;        // per thread
  std::vector<RowRange> ranges_of_thread;
  std::vector<RowRange> os_of_thread;
  std::vector<RowRange> mpi_of_thread;
  std::vector<RowRange> overheads_of_thread;
  std::vector<std::vector<std::uint32_t>> ops_of_device;  // in time order
  std::vector<std::uint32_t> active_devices;              // devices with ops in the window
  std::vector<std::uint32_t> launching_threads;           // threads with at least one op
  // By thread: it is no main thread, its only ops are uploads, and another thread of its process
  // launches what runs on them.
  std::vector<std::uint8_t> feeds;
  std::vector<std::uint8_t> loads;  // and more than single values: batches
  // Steps are looked for among ranges and ops that start in it.
  Interval searched{std::numeric_limits<Nanos>::min(), std::numeric_limits<Nanos>::max()};
  Steps steps;
  Window window;

  bool IsSearched(Nanos time) const { return time >= searched.start && time < searched.end; }
  bool InWindow(Nanos time) const { return time >= window.start && time < window.end; }
  RowRange OpsInWindow() const;  // those that start in it. O(log n)
  bool IsComm(std::uint32_t op) const {
    return trace.ops.kind[op] == OpKind::kKernel && names.IsCommunication(trace.ops.detail[op]);
  }
  std::uint32_t ProcessOfCall(std::uint32_t call) const {
    return trace.threads[trace.calls.thread[call]].process;
  }
  CallClass ClassOfCall(std::uint32_t call) const { return names.Call(trace.calls.name[call]); }
};

// Calls of the whole capture that launch kernels or graphs. O(calls).
std::size_t LaunchingCalls(const Run& run);

// By stream: 1 where it runs kernels or graphs, collectives aside. Copies on other streams can
// overlap with them. O(ops).
std::vector<std::uint8_t> StreamsThatCompute(const Run& run);

// When the device first computes; the end of the window when never. O(ops before).
Nanos FirstKernel(const Run& run, std::uint32_t device);

// Chooses run.window from the request and run.steps: "steady" when steps are known, when GPUs begin
// with an earlier pass, which is left out then, or when too few steps are marked, the first from
// before the first op on; else "all". A given one is narrowed to the whole steps in it, which
// run.steps keeps: of the loop that was found, or of its own where it lies beside that. Without
// any, it ends with the work that runs at its end.
void ChooseWindow(const WindowRequest& request, Run* run);

}  // namespace advise
