// The passes of training from the threads that launch them. PyTorch runs the backward pass on
// threads of its own, which it names: what they launch is that pass. On the other threads, the
// optimizer follows it, up to its last kernel that is known by its name. The forward pass is what
// comes then, until the next backward pass: from the upload of its batch on, where there is one,
// since what lies before it (a log, a validation) has none of this batch's data.
#include <algorithm>
#include <limits>
#include <map>
#include <utility>
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

// A copy to the GPU that may bring a batch.
struct Upload {
  Nanos start = 0;
  Nanos end = 0;
  std::int64_t bytes = 0;
};

// Calls that copy from the host, of threads that are not autograd's, in time order. Tiny ones (a
// learning rate, a seed) are no batch.
std::vector<Upload> UploadsOf(const Run& run, std::uint32_t process) {
  const Trace& trace = run.trace;
  const auto tiny = run.knowledge.BytesOf("copy.tiny_bytes");
  std::vector<Upload> uploads;
  for (const std::uint32_t thread : run.launching_threads) {
    if (trace.threads[thread].process != process) continue;
    if (run.names.ThreadRole(thread) == Role::kAutograd) continue;
    for (const std::uint32_t call : run.calls_of_thread[thread]) {
      const std::uint32_t op = run.first_op_of_call[call];
      if (op == kNone || trace.ops.kind[op] != OpKind::kCopy) continue;
      if (trace.copies.direction[trace.ops.detail[op]] != CopyDirection::kHostToDevice) continue;
      const std::int64_t bytes = trace.BytesOfCopy(op);
      if (bytes > tiny) uploads.push_back({trace.calls.start[call], trace.calls.end[call], bytes});
    }
  }
  std::stable_sort(uploads.begin(), uploads.end(),
                   [](const Upload& a, const Upload& b) { return a.start < b.start; });
  return uploads;
}

// What may be a forward pass: its launches, and what lies between them and the optimizer.
struct ForwardLaunches {
  Nanos after = 0;  // the end of the optimizer, or the start of the step
  Interval all;
};

struct ThreadPasses {
  std::vector<ForwardLaunches> forward;
  std::vector<Interval> backward, optimizer;
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
  Nanos after = rest == first ? std::numeric_limits<Nanos>::min() : (rest - 1)->end;
  // Inferred steps may begin anywhere.
  const bool named = run.steps.known() && run.steps.source != "period";
  const std::uint32_t step = named ? run.steps.At(end->start) : kNone;
  if (step != kNone) after = std::max(after, run.steps.all[step].start);
  const Interval all = {std::max(after, rest->start), (end - 1)->end};
  if (all.start < all.end) to->forward.push_back({after, all});
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

// The uploads between the optimizer and the next backward pass.
std::pair<const Upload*, const Upload*> UploadsFor(const ForwardLaunches& pass,
                                                   const std::vector<Upload>& uploads) {
  const auto earlier = [](const Upload& upload, Nanos at) { return upload.start < at; };
  const auto first = std::lower_bound(uploads.begin(), uploads.end(), pass.after, earlier);
  const auto end = std::lower_bound(first, uploads.end(), pass.all.end, earlier);
  return {uploads.data() + (first - uploads.begin()), uploads.data() + (end - uploads.begin())};
}

// The size of a batch: that of the first upload in most passes.
std::int64_t BatchBytes(const std::vector<ForwardLaunches>& passes,
                        const std::vector<Upload>& uploads) {
  std::map<std::int64_t, std::size_t> firsts;
  for (const ForwardLaunches& pass : passes) {
    const auto [first, end] = UploadsFor(pass, uploads);
    if (first != end) ++firsts[first->bytes];
  }
  std::int64_t bytes = 0;
  for (const auto& [size, count] : firsts)
    if (bytes == 0 || count > firsts[bytes]) bytes = size;
  return bytes;
}

// The passes, each from the upload of its batch on: the last of that size, since a validation
// uploads such batches, too; where batches differ in size, the first upload.
std::vector<Interval> FromTheirBatches(const std::vector<ForwardLaunches>& passes,
                                       const std::vector<Upload>& uploads) {
  const std::int64_t bytes = BatchBytes(passes, uploads);
  std::vector<Interval> forward;
  for (const ForwardLaunches& pass : passes) {
    const auto [first, end] = UploadsFor(pass, uploads);
    const Upload* batch = first;
    for (const Upload* upload = first; upload != end; ++upload)
      if (upload->bytes == bytes) batch = upload;
    const Nanos start = first == end ? pass.all.start : std::max(pass.all.start, batch->end);
    if (start < pass.all.end) forward.push_back({start, pass.all.end});
  }
  return forward;
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
      set(Phase::kForward, FromTheirBatches(passes.forward, UploadsOf(run, p)));
      set(Phase::kOptimizer, std::move(passes.optimizer));
    }
    set(Phase::kBackward, std::move(passes.backward));
  }
}

}  // namespace advise
