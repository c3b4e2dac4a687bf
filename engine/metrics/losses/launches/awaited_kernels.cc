#include "engine/metrics/losses/launches/awaited_kernels.h"

#include "engine/base/median.h"

namespace advise {

bool IsLaunchOfKernel(const Basis& basis, std::uint32_t op) {
  const OpTable& ops = basis.run.trace.ops;
  return ops.kind[op] == OpKind::kKernel && ops.call[op] != kNone &&
         basis.run.ClassOfCall(ops.call[op]) == CallClass::kLaunch && basis.InWindow(ops.start[op]);
}

std::vector<std::uint8_t> ThreadsThatAwaitKernels(const Basis& basis) {
  const Trace& trace = basis.run.trace;
  std::vector<std::vector<Nanos>> behind(trace.threads.size());
  std::vector<std::vector<Nanos>> lengths(trace.threads.size());
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (!IsLaunchOfKernel(basis, op)) continue;
    const std::uint32_t call = trace.ops.call[op];
    const Nanos since = trace.calls.end[call] - trace.ops.end[op];
    if (since < 0) continue;
    behind[trace.calls.thread[call]].push_back(since);
    lengths[trace.calls.thread[call]].push_back(trace.calls.end[call] - trace.calls.start[call]);
  }
  const auto spread = [](const std::vector<Nanos>& values) {
    return values.empty() ? Nanos{0} : MedianDeviation(values, Median(values));
  };
  std::vector<std::uint8_t> await(trace.threads.size(), 0);
  for (std::size_t t = 0; t < await.size(); ++t)
    await[t] = spread(behind[t]) <= spread(lengths[t]) ? 1 : 0;
  return await;
}

}  // namespace advise
