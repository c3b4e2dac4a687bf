// The passes of training from the threads that launch them. PyTorch runs the backward pass on
// threads of its own, which it names: what they launch is that pass. On the other threads, the
// optimizer follows it, up to its last kernel that is known by its name; what comes then, until the
// next backward pass, is the forward pass.
#include <algorithm>
#include <vector>

#include "engine/timeline/phase.h"

namespace advise {
namespace {

struct KernelLaunch {
  Nanos start = 0;
  Nanos end = 0;
  bool backward = false;
  bool update = false;  // of weights
};

// Of kernels, in time order.
std::vector<KernelLaunch> LaunchesOf(const Run& run, std::uint32_t process,
                                     const ShapeSet& updates) {
  const Trace& trace = run.trace;
  std::vector<KernelLaunch> launches;
  for (const std::uint32_t thread : run.launching_threads) {
    if (trace.threads[thread].process != process) continue;
    const bool backward = run.names.ThreadRole(thread) == Role::kAutograd;
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      const std::uint32_t op = run.first_op_of_call[call];
      if (op == kNone || trace.ops.kind[op] != OpKind::kKernel || run.IsComm(op)) continue;
      launches.push_back({trace.calls.start[call], trace.calls.end[call], backward,
                          updates.Has(trace.ops.detail[op])});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const KernelLaunch& a, const KernelLaunch& b) { return a.start < b.start; });
  return launches;
}

struct ThreadPasses {
  std::vector<Interval> forward, backward, optimizer;
};

// Launches of other threads between two backward passes: those of the optimizer, then those of the
// next forward pass, which begins with its step where steps are named. `last`: nothing follows.
void SplitBetween(const Run& run, const KernelLaunch* first, const KernelLaunch* end, bool last,
                  ThreadPasses* to) {
  const KernelLaunch* rest = first;
  for (const KernelLaunch* at = first; at != end; ++at)
    if (at->update) rest = at + 1;
  if (rest != first) to->optimizer.push_back({first->start, (rest - 1)->end});
  if (rest == end || last) return;
  Nanos start = rest->start;
  // Inferred steps may begin anywhere.
  const bool named = run.steps.known() && run.steps.source != "period";
  const std::uint32_t step = named ? run.steps.At(end->start) : kNone;
  if (step != kNone) start = std::max(start, run.steps.all[step].start);
  if (start < (end - 1)->end) to->forward.push_back({start, (end - 1)->end});
}

ThreadPasses PassesOfThreads(const Run& run, const std::vector<KernelLaunch>& launches) {
  ThreadPasses passes;
  const KernelLaunch* const end = launches.data() + launches.size();
  for (const KernelLaunch* at = launches.data(); at != end;) {
    const KernelLaunch* const next = std::find_if(
        at, end, [at](const KernelLaunch& other) { return other.backward != at->backward; });
    if (at->backward)
      passes.backward.push_back({at->start, (next - 1)->end});
    else
      SplitBetween(run, at, next, next == end, &passes);
    at = next;
  }
  return passes;
}

}  // namespace

void Phases::FromThreads(const Run& run) {
  if (known(Phase::kForward) || known(Phase::kBackward)) return;
  const ShapeSet updates =
      run.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; });
  for (std::uint32_t p = 0; p < sets_.size(); ++p) {
    ThreadPasses passes = PassesOfThreads(run, LaunchesOf(run, p, updates));
    // Threads may have the role by the name of their process: then it tells nothing.
    if (passes.backward.empty() || (passes.forward.empty() && passes.optimizer.empty())) continue;
    const auto set = [&](Phase phase, std::vector<Interval> spans) {
      const auto slot = static_cast<std::size_t>(phase);
      if (spans.empty()) return;
      sets_[p][slot] = sets_[p][slot].Union(IntervalSet::Of(std::move(spans)));
      known_[slot] = true;
    };
    // Without updates that are known by their names, the optimizer would be taken for the forward
    // pass.
    if (!passes.optimizer.empty()) {
      set(Phase::kForward, std::move(passes.forward));
      set(Phase::kOptimizer, std::move(passes.optimizer));
    }
    set(Phase::kBackward, std::move(passes.backward));
  }
}

}  // namespace advise
