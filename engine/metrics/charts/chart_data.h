// Series and tables that charts draw, thinned to what a screen can show.
#pragma once

#include <string>
#include <vector>

#include "engine/metrics/kernels/kernel_counters.h"
#include "engine/metrics/losses/loss.h"

namespace advise {

// One or more neighboring steps.
struct StepPoint {
  std::size_t first = 0;  // number of the first, as in Steps::all
  std::size_t count = 1;
  Nanos start_ns = 0;   // of the first
  Nanos median_ns = 0;  // length; upper median
  Nanos max_ns = 0;
  bool warmup = false;
  bool outlier = false;  // one of them is
};
// At most `most` points over all steps of the run. O(steps).
std::vector<StepPoint> StepPoints(const Run& run, std::size_t most);
// The same over steps given by start and length; the first `warmup` of them are warm-up.
std::vector<StepPoint> GroupSteps(const std::vector<Step>& steps, std::size_t warmup,
                                  const std::vector<std::size_t>& outliers, std::size_t most);

// Copies of the window of one direction and one power of two of bytes.
struct CopySizeBin {
  std::string direction;
  std::int64_t from_bytes =
      0;  // sizes from here up to, but not including, twice this; 0: empty copies
  std::int64_t count = 0;
  double bytes = 0;
  Nanos time_ns = 0;
};
// By direction, then size; bins without copies are left out. O(copies).
std::vector<CopySizeBin> CopySizes(const Basis& basis);

// Samples of one quantity, averaged over equal stretches of the window.
struct ThinSeries {
  std::string name;
  std::string unit;
  std::string source;  // "GPU 0", a NIC's name
  Nanos bucket_ns = 0;
  std::vector<double> mean;  // by bucket from the window's start; NaN without samples
};
// Every series of the trace that has samples in the window, in at most `most` parts; in fewer where
// samples lie further apart. O(samples).
std::vector<ThinSeries> ThinSamples(const Run& run, std::size_t most);

// Mean lateness of each device at the collectives of each step, in nanoseconds: by how much it
// began after the first of the others.
struct LatenessMatrix {
  std::vector<std::uint32_t> devices;        // rows
  std::vector<std::string> names;            // of the rows: "rank 3", "GPU 0"
  std::vector<std::size_t> steps;            // columns: numbers as in Steps::all; groups where many
  std::vector<std::vector<double>> mean_ns;  // by row, then column; NaN without collectives
};
// Empty without steps or without collectives of several devices. O(collectives).
LatenessMatrix LatenessByStep(const Run& run, std::size_t most_columns);

// A counted kernel in the roofline plot, or an operator of known sizes.
struct RooflinePoint {
  std::string kernel;
  double flop_per_byte = 0;
  double flops = 0;  // per second
  double time_ns = 0;
};
// What bounds kernels of one kind of arithmetic.
struct RoofCurve {
  double peak_flops = 0;
  double bytes_per_s = 0;  // of the device's memory
};
struct Roofline {
  std::vector<RooflinePoint> points;
  std::vector<RoofCurve> roofs;   // lowest peak first; like ones once
  std::size_t without_place = 0;  // counted kernels whose work or traffic is not known
  std::size_t left_out = 0;       // operators with least time
  bool estimated = false;         // from sizes of operators, not from counters
  // Another roof, unless one like it is there.
  void AddRoof(const RoofCurve& roof);
};
Roofline RooflineOf(const Counters& counters);

}  // namespace advise
