// Time that one thing costs: how often it happens, what it loses on the GPUs, and what removing it
// would change.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "engine/base/median.h"
#include "engine/metrics/basis.h"
#include "engine/replay/remedy.h"
#include "engine/trace/spans.h"

namespace advise {

struct Loss {
  std::int64_t count = 0;
  double per_step = 0;
  double bytes = 0;
  double time_ns = 0;  // summed, of the things themselves
  std::shared_ptr<Spans> lost = std::make_shared<Spans>();
  std::shared_ptr<Remedy> remedy = std::make_shared<Remedy>();
};

// Counts events by step. O(1) an event when they come in about the order of time.
class StepCounter {
 public:
  explicit StepCounter(const Run& run) : run_(run) {}
  void Count(Nanos when);
  std::size_t all() const { return all_; }
  // Median over the steady steps of the window; the mean where less than half of them have any, and
  // all there are when there are no steps.
  double PerStep() const;

 private:
  const Run& run_;
  std::vector<std::uint32_t> counts_;  // one a step, once something is counted
  std::size_t all_ = 0;
  std::size_t last_ = 0;  // step of the last one counted
};

// The same for times that are at hand: how many fall into a step.
double PerStep(const Run& run, const std::vector<Nanos>& whens);

// The step that an op belongs to: where steps are times of the host, the one that launched it,
// which may end before the op runs. kNone for none.
std::uint32_t StepOf(const Run& run, std::uint32_t op);

// The spans of each thread, joined.
HostTime Joined(std::map<std::uint32_t, std::vector<Interval>> spans_of_thread);

// Collects the times and spans of one Loss.
class LossBuilder {
 public:
  explicit LossBuilder(const Basis& basis)
      : basis_(basis), counter_(basis.run), spans_(basis.run.trace.devices.size()) {}

  void Count(Nanos when, double bytes, Nanos time_ns);
  void CountOp(std::uint32_t op, double bytes = 0);
  void CountWhole(std::uint32_t op) { CountOp(op), AddOp(op); }  // all of its time is lost
  void AddToCounted(double bytes, Nanos time_ns);                // more of what was counted already
  void AddSpan(std::uint32_t device, Nanos start, Nanos end) { spans_[device].Add(start, end); }
  void AddPiece(const GapPiece& piece) { AddSpan(piece.device, piece.start, piece.end); }
  void CountPiece(const GapPiece& piece) { Count(piece.start, 0, piece.Length()), AddPiece(piece); }
  void AddSpans(std::uint32_t device, const IntervalSet& spans);
  void AddOp(std::uint32_t op);  // the op's whole time, within the window
  void AddExposed(
      std::uint32_t op);  // the part of a copy, memset or collective that nothing better covers
  void AddOpBeyond(std::uint32_t op, Nanos kept);  // what the op takes longer than that
  // With the fix, the op takes this part of its time.
  void ScaleOp(std::uint32_t op, double factor) {
    remedy().scaled_ops.emplace_back(op, static_cast<float>(factor));
  }
  // With the fix, the op is gone: its time is lost …
  void RemoveOp(std::uint32_t op) { AddOp(op), ScaleOp(op, 0); }
  // … or what of it is exposed.
  void RemoveExposed(std::uint32_t op) { AddExposed(op), ScaleOp(op, 0); }
  void RemoveCallOf(std::uint32_t op);  // the call that launched it, where that is known
  // Gaps whose blocking call is marked, less input, MPI, network, sleep, waits for other threads,
  // allocation and compile time; and the exposed part of uploads that it made late.
  void AddBlamed(const std::vector<std::uint8_t>& calls);
  // Idle time for which a thread is responsible while it is inside these spans of its own.
  void AddIdleInside(const HostTime& spans_of_thread);
  // What threads do in these spans is gone: their code, their calls and waits, and the idle time
  // for which they are responsible meanwhile. O(calls of the threads + idle pieces).
  void RemoveFromHost(const HostTime& spans_of_thread);
  // The fix takes this from what the thread does; nothing of no thread (kNone).
  void CutHost(std::uint32_t thread, Nanos start, Nanos end) {
    if (thread != kNone) host_cuts_[thread].Add(start, end);
  }
  Remedy& remedy() { return *loss_.remedy; }
  std::int64_t count() const { return loss_.count; }
  Loss Build();

 private:
  const Basis& basis_;
  Loss loss_;
  StepCounter counter_;
  std::vector<IntervalCollector> spans_;
  std::map<std::uint32_t, IntervalCollector> host_cuts_;
};

}  // namespace advise
