#include "engine/advice/hot_kernel.h"

namespace advise {

bool IsOfOtherKernels(const Verdict& hot, const std::vector<IntervalSet>& claims,
                      const Analysis& analysis) {
  const auto found = hot.evidence.find("name");
  if (found == hot.evidence.end()) return false;
  const auto* const name = std::get_if<std::string>(&found->second);
  if (name == nullptr) return false;
  const Trace& trace = analysis.run.trace;
  Nanos own = 0;
  Nanos others = 0;
  for (std::size_t op = 0; op < trace.ops.size(); ++op) {
    const std::size_t device = trace.ops.device[op];
    if (trace.ops.kind[op] != OpKind::kKernel || device >= claims.size()) continue;
    const bool is_hot = trace.strings[trace.shapes[trace.ops.detail[op]].name] == *name;
    (is_hot ? own : others) += claims[device].OverlapWith(trace.ops.start[op], trace.ops.end[op]);
  }
  return others > own;
}

}  // namespace advise
