// The commands that reports give: how to measure the kernels that take most of the time, and no
// others; how to analyze another part of a capture.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

struct MeasureCommand {
  std::size_t kernels = 0;  // that it measures
  double share = 0;         // of the kernel time that they take
  std::string step;         // "Measure these three kernels with Nsight Compute."
  std::string command;      // `ncu …`, on AMD `rocprof-compute …`
};

// Whether a kernel is of a library that runs on AMD's GPUs only.
bool RunsOnAmdOnly(const Knowledge& knowledge, const KernelClass& kernel);

// Whether a tool of AMD's wrote it: rocprof, rocprofv3, amd-smi, rocm-smi.
bool WroteAmdTool(const InputInfo& input);

// Whether the GPUs are AMD's, by their names or by what captured them.
bool IsAmd(const Report& report);

// Whether the GPUs are NVIDIA's: one did work and is not AMD's, or a tool of NVIDIA's watched them.
bool IsNvidia(const Report& report);

// Whether kernels of libraries for AMD's GPUs take part of the time (the fact summary.kernels).
bool KernelsAreOfAmd(const Report& report, const Knowledge& knowledge);

// The fewest kernels, three at most, that take most of the time that nobody measured (the facts
// efficiency.unmeasured and summary.kernels).
MeasureCommand CommandToMeasure(const Report& report, const Knowledge& knowledge);

// The option that chooses this part of a capture, in whole milliseconds around it: "--window
// 0.778:1.966". Times count from zero of the clock that --window counts from.
std::string WindowOption(Nanos from, Nanos to);

// "one", "two" … "ten"; digits above.
std::string CountWord(std::size_t count);

}  // namespace advise
