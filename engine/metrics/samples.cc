#include "engine/metrics/samples.h"

#include "engine/base/glob.h"

namespace advise {

Samples FindSamples(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  Samples samples;
  if (trace.gpu_series.empty()) return samples;
  std::vector<IntervalSet> matrix(trace.devices.size());
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kKernel || !basis.InWindow(trace.ops.start[op])) continue;
    const std::string& name = basis.run.names.Kernel(trace.ops.detail[op]).name;
    if (name == "matrix" || name == "convolution") {
      matrix[trace.ops.device[op]].Append(trace.ops.start[op], trace.ops.end[op]);
    }
  }
  double sum = 0;
  for (const Series& series : trace.gpu_series) {
    // Percent of the tensor pipes' peak; spelt alike from Ampere to Blackwell, with FP16 beside it
    // on Turing.
    if (series.device >= matrix.size() || !MatchesGlob(series.name, "tensor active*")) continue;
    for (std::size_t i = 0; i < series.time.size(); ++i) {
      if (!matrix[series.device].Contains(series.time[i])) continue;
      sum += series.value[i] / 100;
      ++samples.tensor_samples;
    }
  }
  if (samples.tensor_samples > 0)
    samples.tensor_in_matrix = sum / static_cast<double>(samples.tensor_samples);
  return samples;
}

}  // namespace advise
