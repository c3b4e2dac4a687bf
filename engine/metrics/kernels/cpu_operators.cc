#include "engine/metrics/kernels/cpu_operators.h"

#include <algorithm>
#include <map>

namespace advise {
namespace {

bool IsOfCpu(const Knowledge& knowledge, const std::string& name) {
  const std::vector<std::size_t> signs = knowledge.RunSignsOf("operator", name);
  return std::any_of(signs.begin(), signs.end(), [&](std::size_t i) {
    const RunSign& sign = knowledge.run_signs()[i];
    return sign.about == RunSign::About::kKind && sign.rule.value == "cpu";
  });
}

}  // namespace

CpuOperator FindCpuOperator(const Run& run) {
  std::map<StringId, double> times;
  const OperatorTable& operators = run.trace.operators;
  for (std::size_t row = 0; row < operators.size(); ++row)
    times[operators.name[row]] += static_cast<double>(operators.end[row] - operators.start[row]);
  CpuOperator most;
  for (const auto& [name, time] : times) {
    const std::string& text = run.trace.strings[name];
    if (time > most.time_ns && IsOfCpu(run.knowledge, text)) most = {text, time};
  }
  return most;
}

}  // namespace advise
