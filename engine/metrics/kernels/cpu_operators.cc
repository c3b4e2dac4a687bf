#include "engine/metrics/kernels/cpu_operators.h"

#include <map>
#include <string_view>

namespace advise {
namespace {

// As PyTorch calls them: "aten::mkldnn_convolution", "mkldnn::_linear_pointwise",
// "aten::mkl_linear".
bool IsOfCpu(std::string_view name) {
  for (const std::string_view part : {"mkldnn", "onednn", "::mkl_", "mkl::"}) {
    if (name.find(part) != std::string_view::npos) return true;
  }
  return false;
}

}  // namespace

CpuOperator FindCpuOperator(const Trace& trace) {
  std::map<StringId, double> times;
  const OperatorTable& operators = trace.operators;
  for (std::size_t row = 0; row < operators.size(); ++row)
    times[operators.name[row]] += static_cast<double>(operators.end[row] - operators.start[row]);
  CpuOperator most;
  for (const auto& [name, time] : times) {
    if (time > most.time_ns && IsOfCpu(trace.strings[name])) most = {trace.strings[name], time};
  }
  return most;
}

}  // namespace advise
