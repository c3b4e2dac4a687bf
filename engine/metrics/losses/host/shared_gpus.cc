#include "engine/metrics/losses/host/shared_gpus.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "engine/metrics/losses/kernels/time_alone.h"
#include "engine/timeline/room.h"

namespace advise {
namespace {

// What one process does on a device.
struct Share {
  std::vector<Interval> kernel_times, op_times;
  IntervalSet kernels, ops;
};

class SharedGpuFinder : Finder {
 public:
  explicit SharedGpuFinder(const Basis& basis)
      : Finder(basis),
        room_(basis.run),
        turns_(basis),
        one_for_all_(basis),
        latency_(Time("idle.launch_latency")),
        least_(CountOf("comm.compared_least")) {}

  SharedGpus Find() {
    SharedGpus result;
    double fullest = 0, longest = 0;
    const bool others_rest = trace_.devices.size() > run_.active_devices.size();
    for (const std::uint32_t d : run_.active_devices) {
      Divide(d);
      result.processes = std::max(result.processes, shares_.size());
      fullest = std::max(fullest, shares_.size() < 2 ? Busy(d) : OfDevice(d));
      if (others_rest) longest = std::max(longest, shares_.size() < 2 ? Busy(d) : Alone(d));
    }
    const auto window = static_cast<double>(run_.window.Length());
    turns_.remedy().reach_ns = std::max<Nanos>(1, static_cast<Nanos>(window - fullest));
    turns_.remedy().reach_reason = "the SMs of the GPU";
    result.turns = turns_.Build();
    result.one_for_all =
        FirstParts(one_for_all_.Build().lost->by_device, others_rest ? window - longest : 0);
    return result;
  }

 private:
  // The first part of each span, `most` in all of each device.
  static std::vector<IntervalSet> FirstParts(const std::vector<IntervalSet>& all, double most) {
    std::vector<IntervalSet> parts;
    for (const IntervalSet& spans : all) {
      const auto total = static_cast<double>(spans.Total());
      const double share = total > 0 ? std::min(1.0, most / total) : 0;
      IntervalSet& part = parts.emplace_back();
      for (const Interval& span : spans.intervals()) {
        const auto length = static_cast<Nanos>(share * static_cast<double>(span.Length()));
        part.Append(span.start, span.start + length);
      }
    }
    return parts;
  }

  // Adds what the processes of a device wait for each other at all. Returns how long they take at
  // least where each has a GPU, or as many as there are: FindAlone was called before.
  double Alone(std::uint32_t d) {
    loss_ = &one_for_all_;
    const IntervalSet always = IntervalSet::Of({{run_.window.start, run_.window.end}});
    const std::size_t waits = Waits(d, always);
    const bool stretched = waits + StandingStill() >= least_ && OneAtATime();
    std::map<std::uint32_t, double> own;  // by process
    double all = 0;
    for (const std::uint32_t op : ops_) {
      const Nanos time = stretched && IsKernel(op) ? OwnTime(op) : Length(op);
      if (time < Length(op)) Stretch(op, time, always);
      own[ProcessOf(op)] += static_cast<double>(time);
      all += static_cast<double>(time);
    }
    double most = 0;
    for (const auto& [process, time] : own) most = std::max(most, time);
    const std::size_t gpus = trace_.devices.size() / run_.active_devices.size();  // for each
    return std::max(most, all / static_cast<double>(std::clamp<std::size_t>(gpus, 1, own.size())));
  }

  double Busy(std::uint32_t d) const {
    return static_cast<double>(run_.window.Length() - basis_.times[d].idle.Total());
  }
  bool IsKernel(std::uint32_t op) const { return trace_.ops.kind[op] == OpKind::kKernel; }
  Interval Of(std::uint32_t op) const { return {trace_.ops.start[op], trace_.ops.end[op]}; }
  std::uint32_t ProcessOf(std::uint32_t op) const {
    const std::uint32_t stream = trace_.ops.stream[op];
    return stream == kNone ? kNone : trace_.streams[stream].process;
  }

  // What each process does on the device in the window.
  void Divide(std::uint32_t d) {
    shares_.clear();
    ops_.clear();
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (ProcessOf(op) == kNone || !basis_.InWindow(trace_.ops.start[op])) continue;
      Share& share = shares_[ProcessOf(op)];
      share.op_times.push_back(Of(op));
      if (IsKernel(op)) share.kernel_times.push_back(Of(op));
      ops_.push_back(op);
    }
    if (shares_.size() < 2) return;
    for (auto& [process, share] : shares_) {
      share.kernels = IntervalSet::Of(std::move(share.kernel_times));
      share.ops = IntervalSet::Of(std::move(share.op_times));
    }
  }

  // When other processes compute meanwhile.
  IntervalSet OthersIn(const Interval& when, std::uint32_t process) const {
    IntervalSet others;
    for (const auto& [other, share] : shares_)
      if (other != process) others = others.Union(share.kernels.Clip(when.start, when.end));
    return others;
  }

  // Adds what the processes of a device take from each other. Returns how long all that they do
  // takes where kernels run side by side as far as there are SMs.
  double OfDevice(std::uint32_t d) {
    loss_ = &turns_;
    std::vector<Interval> roomy, wide;
    for (const std::uint32_t op : ops_)
      if (IsKernel(op)) (room_.IsLeftBy(op) ? roomy : wide).push_back(Of(op));
    const IntervalSet room = IntervalSet::Of(std::move(roomy))
                                 .Subtract(IntervalSet::Of(std::move(wide)))
                                 .Union(basis_.times[d].idle);
    const std::size_t waits = Waits(d, room);
    FindAlone();
    const bool stretched = waits + StandingStill() >= least_ && OneAtATime();
    double needed = 0;
    const int sms = trace_.devices[d].sm_count;
    for (const std::uint32_t op : ops_) {
      if (!IsKernel(op)) continue;
      const Nanos own = stretched ? OwnTime(op) : Length(op);
      if (own < Length(op)) Stretch(op, own, room);
      const auto blocks = static_cast<double>(Shape(op).Blocks());
      needed += static_cast<double>(own) * (sms > 0 ? std::min(1.0, blocks / sms) : 1.0);
    }
    return std::min(needed, Busy(d));
  }

  // Kernels that are launched, whose stream is free, and that start only when others of another
  // process have run. Where something of their own process ran meanwhile, they may have waited for
  // that.
  std::size_t Waits(std::uint32_t d, const IntervalSet& room) {
    std::size_t count = 0;
    std::map<std::uint32_t, Nanos> free_since;  // by stream
    std::uint32_t last = kNone;                 // process whose work ended last so far
    Nanos until = 0;
    for (const std::uint32_t op : ops_) {
      const Share& share = shares_[ProcessOf(op)];
      const std::uint32_t call = trace_.ops.call[op];
      Nanos& free = free_since[trace_.ops.stream[op]];
      const Nanos ready = std::max(free, call == kNone ? until : trace_.calls.start[call]);
      const Interval wait{std::max(run_.window.start, ready + latency_), trace_.ops.start[op]};
      const bool waits =
          IsKernel(op) && wait.end > wait.start && share.ops.OverlapWith(wait.start, wait.end) == 0;
      if (waits &&
          ((last != kNone && last != ProcessOf(op)) || !OthersIn(wait, ProcessOf(op)).empty())) {
        const IntervalSet lost = room.Clip(wait.start, wait.end);
        loss_->remedy().freed_ops.push_back(op);
        if (!lost.empty()) {
          loss_->Count(wait.start, 0, lost.Total());
          loss_->AddSpans(d, lost);
          ++count;
        }
      }
      free = std::max(free, trace_.ops.end[op]);
      if (trace_.ops.end[op] >= until) last = ProcessOf(op), until = trace_.ops.end[op];
    }
    return count;
  }

  // By shape, what kernels take beside which no other process computes.
  void FindAlone() {
    alone_.clear();
    for (const std::uint32_t op : ops_) {
      if (IsKernel(op) && Beside(op) == 0) alone_[trace_.ops.detail[op]].push_back(Length(op));
    }
    std::erase_if(alone_, [this](const auto& shape) { return shape.second.size() < least_; });
    for (auto& [shape, lengths] : alone_) std::sort(lengths.begin(), lengths.end());
  }

  // Kernels that take longer than any that share the GPU with the other processes at the same time.
  std::size_t StandingStill() const {
    const auto processes = static_cast<Nanos>(shares_.size());
    return static_cast<std::size_t>(std::count_if(ops_.begin(), ops_.end(), [&](std::uint32_t op) {
      if (!IsKernel(op)) return false;
      const auto alone = alone_.find(trace_.ops.detail[op]);
      return alone != alone_.end() && Beside(op) > 0 &&
             Length(op) > (processes + 1) * alone->second.back();
    }));
  }

  // For how long other processes compute beside it: any of them, and summed over them.
  Nanos Beside(std::uint32_t op) const { return OthersIn(Of(op), ProcessOf(op)).Total(); }
  Nanos BesideEach(std::uint32_t op) const {
    Nanos sum = 0;
    for (const auto& [process, share] : shares_) {
      if (process != ProcessOf(op))
        sum += share.kernels.OverlapWith(trace_.ops.start[op], trace_.ops.end[op]);
    }
    return sum;
  }

  // What a kernel takes of its own: as alone, or its part of the time that it shares, which GPUs
  // divide evenly.
  Nanos OwnTime(std::uint32_t op) const {
    const Nanos beside = Beside(op);
    if (beside == 0) return Length(op);
    const auto alone = alone_.find(trace_.ops.detail[op]);
    if (alone != alone_.end())
      return std::max(Length(op) - beside,
                      TimeAlone(alone->second, Length(op), Number("comm.stragglers")));
    const auto shared = static_cast<double>(beside);
    const double processes = 1 + static_cast<double>(BesideEach(op)) / shared;
    return Length(op) - beside + static_cast<Nanos>(shared / processes);
  }

  // Kernels of different processes that are recorded at the same time take as long as one after the
  // other. Else they run at the same time, with MPS.
  bool OneAtATime() const {
    double own = 0;
    std::vector<Interval> when;
    for (const std::uint32_t op : ops_) {
      if (!IsKernel(op) || Beside(op) == 0) continue;
      own += static_cast<double>(OwnTime(op));
      when.push_back(Of(op));
    }
    const auto together = static_cast<double>(IntervalSet::Of(std::move(when)).Total());
    return own <= Number("host.one_at_a_time") * together;
  }

  void Stretch(std::uint32_t op, Nanos own, const IntervalSet& room) {
    const IntervalSet lost = room.Clip(trace_.ops.end[op] - (Length(op) - own), trace_.ops.end[op]);
    loss_->ScaleOp(op, static_cast<double>(own) / static_cast<double>(Length(op)));
    if (lost.empty()) return;
    loss_->Count(trace_.ops.start[op], 0, lost.Total());
    loss_->AddSpans(trace_.ops.device[op], lost);
  }

  Room room_;
  LossBuilder turns_, one_for_all_;
  LossBuilder* loss_ = nullptr;  // of these, the one that is added to
  Nanos latency_;
  std::size_t least_;
  std::map<std::uint32_t, Share> shares_;              // of the device at hand, by process
  std::vector<std::uint32_t> ops_;                     // of these
  std::map<std::uint32_t, std::vector<Nanos>> alone_;  // by shape
};

}  // namespace

SharedGpus FindSharedGpus(const Basis& basis) { return SharedGpuFinder(basis).Find(); }

}  // namespace advise
