#include "engine/advice/fix_changes.h"

#include <algorithm>

namespace advise {

std::vector<std::string> ChangesOf(const Remedy& remedy, const Run& run) {
  const auto is_kernel = [&](const auto& change) {
    return run.trace.ops.kind[change.first] == OpKind::kKernel;
  };
  auto scaled = remedy.scaled_ops;
  scaled.insert(scaled.end(), remedy.lighter_ops.begin(), remedy.lighter_ops.end());
  const bool kernels = std::any_of(scaled.begin(), scaled.end(), is_kernel);
  const bool others = !std::all_of(scaled.begin(), scaled.end(), is_kernel);
  std::vector<std::string> changes;
  const auto add_if = [&](bool changed, const char* what) {
    if (changed) changes.emplace_back(what);
  };
  add_if(!remedy.vanished_calls.empty(), "launches");
  add_if(!remedy.unblocked_calls.empty(), "waits");
  add_if(kernels, "kernels");
  add_if(others || !remedy.detached_ops.empty() || !remedy.freed_ops.empty(), "copies");
  add_if(!remedy.host_cuts.empty(), "host-code");
  add_if(remedy.data_ready, "data");
  return changes;
}

bool MakesCommFaster(const Remedy& remedy, const Run& run) {
  return std::any_of(remedy.scaled_ops.begin(), remedy.scaled_ops.end(),
                     [&](const auto& scaled) { return run.IsComm(scaled.first); });
}

double CommFewer(const Remedy& remedy, const Analysis& analysis) {
  const Run& run = analysis.run;
  const auto gone = std::count_if(remedy.vanished_calls.begin(), remedy.vanished_calls.end(),
                                  [&](std::uint32_t call) {
                                    const std::uint32_t op = run.first_op_of_call[call];
                                    return op != kNone && run.IsComm(op);
                                  });
  if (gone == 0) return 0;
  return std::min(1.0, static_cast<double>(gone) / static_cast<double>(analysis.comm.count));
}

}  // namespace advise
