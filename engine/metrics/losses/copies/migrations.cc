#include "engine/metrics/losses/copies/migrations.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace advise {
namespace {

class MigrationFinder : Finder {
 public:
  MigrationFinder(const Basis& basis, double link)
      : Finder(basis), link_(link), loss_(basis), when_(trace_.devices.size()) {}

  Loss Find() {
    FindBothWays();
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] == OpKind::kCopy && basis_.InWindow(trace_.ops.start[op])) Add(op);
    }
    for (std::size_t i = 0; i < trace_.faults.size(); ++i) {
      if (trace_.faults.device[i] == kNone || !basis_.InWindow(trace_.faults.start[i])) continue;
      when_[trace_.faults.device[i]].push_back({trace_.faults.start[i], trace_.faults.end[i]});
    }
    if (loss_.count() > 0) Kernels();
    HostFaults();
    HostWaits();
    return loss_.Build();
  }

 private:
  // Data that host and GPU use in turn cannot move before the other one is done with it: a prefetch
  // takes the time of the link all the same. What other pages drive out, the host did not ask for.
  void FindBothWays() {
    double up = 0;
    double back = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kCopy || !basis_.InWindow(trace_.ops.start[op])) continue;
      const std::uint32_t copy = trace_.ops.detail[op];
      if (!IsMigration(trace_.copies.direction[copy]) ||
          trace_.copies.cause[copy] == MigrationCause::kUser)
        continue;
      const bool to_host = trace_.copies.direction[copy] == CopyDirection::kMigrationToHost;
      if (to_host && trace_.copies.cause[copy] != MigrationCause::kFault) continue;
      (to_host ? back : up) += static_cast<double>(trace_.copies.bytes[copy]);
    }
    both_ways_ = std::min(up, back) >= Number("copy.both_ways") * std::max(up, back);
  }

  // What a prefetch of an op's bytes takes on the link, where nothing can hide it.
  Nanos Kept(std::uint32_t op) const {
    if (!both_ways_ || link_ <= 0) return 0;
    const auto bytes = static_cast<double>(trace_.copies.bytes[trace_.ops.detail[op]]);
    return std::min(Length(op), static_cast<Nanos>(bytes / link_ * kNanosPerSecond));
  }

  void Add(std::uint32_t op) {
    const std::uint32_t copy = trace_.ops.detail[op];
    const MigrationCause cause = trace_.copies.cause[copy];
    if (!IsMigration(trace_.copies.direction[copy]) || cause == MigrationCause::kUser) return;
    const auto bytes = static_cast<double>(trace_.copies.bytes[copy]);
    if (cause == MigrationCause::kSpeculative) {
      loss_.AddToCounted(bytes, Length(op));
    } else {
      loss_.CountOp(op, bytes);
    }
    const Nanos kept = Kept(op);
    loss_.AddOpBeyond(op, kept);
    loss_.ScaleOp(op,
                  static_cast<double>(kept) / static_cast<double>(std::max<Nanos>(1, Length(op))));
    when_[trace_.ops.device[op]].push_back({trace_.ops.start[op], trace_.ops.end[op]});
    if (kept > 0) kept_[trace_.ops.device[op]].emplace_back(trace_.ops.start[op], kept);
    if (trace_.copies.direction[copy] == CopyDirection::kMigrationToHost) {
      back_starts_.push_back(trace_.ops.start[op]);
      back_ends_.push_back(trace_.ops.end[op]);
      if (cause == MigrationCause::kFault) faulted_back_.push_back(op);
    }
  }

  // Host code that goes on from one page that it faults on to the next: most of that is the fault.
  void HostFaults() {
    std::sort(back_starts_.begin(), back_starts_.end());
    std::sort(back_ends_.begin(), back_ends_.end());
    const auto most = Time("copy.host_fault");
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause != IdleCause::kHostCompute) continue;
      if (!std::binary_search(back_ends_.begin(), back_ends_.end(), piece.start) ||
          !std::binary_search(back_starts_.begin(), back_starts_.end(), piece.end))
        continue;
      const Nanos end = std::min(piece.end, piece.start + most);
      loss_.AddSpan(piece.device, piece.start, end);
      loss_.CutHost(basis_.idle.ThreadOf(piece), piece.start, end);
    }
  }

  // The launches of one device, in time order.
  struct Launch {
    Nanos start;
    std::uint32_t thread;
    bool operator<(const Launch& other) const { return start < other.start; }
  };

  std::vector<std::vector<Launch>> Launches() const {
    std::vector<std::vector<Launch>> result(trace_.devices.size());
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone) continue;
      result[trace_.ops.device[op]].push_back(
          {trace_.calls.start[call], trace_.calls.thread[call]});
    }
    for (auto& launches : result) std::sort(launches.begin(), launches.end());
    return result;
  }

  const IntervalSet& CallsOf(std::uint32_t thread) {
    const auto [at, is_new] = calls_.try_emplace(thread);
    if (is_new) {
      std::vector<Interval> spans;
      for (const std::uint32_t call : run_.calls_of_thread[thread])
        spans.push_back({trace_.calls.start[call], trace_.calls.end[call]});
      at->second = IntervalSet::Of(std::move(spans));
    }
    return at->second;
  }

  // Host code stands still while a page that it touched moves back. That is the code of the thread
  // that launches next, where it is in no call meanwhile.
  void HostWaits() {
    if (faulted_back_.empty()) return;
    const std::vector<std::vector<Launch>> all = Launches();
    for (const std::uint32_t op : faulted_back_) {
      const Interval moves{trace_.ops.start[op], trace_.ops.end[op]};
      const auto& launches = all[trace_.ops.device[op]];
      const auto next =
          std::lower_bound(launches.begin(), launches.end(), Launch{moves.start, kNone});
      if (next == launches.end() || next->start < moves.end) continue;
      if (CallsOf(next->thread).OverlapWith(moves.start, moves.end) > 0) continue;
      loss_.CutHost(next->thread, moves.start, moves.end - Kept(op));
    }
  }

  // What the pages that arrive within a span take on the link.
  Nanos KeptInside(std::uint32_t device, Nanos start, Nanos end) const {
    const auto pages = kept_.find(device);
    if (pages == kept_.end()) return 0;
    const auto& list = pages->second;  // by start, as ops
    auto at = std::lower_bound(list.begin(), list.end(), std::pair<Nanos, Nanos>{start, 0});
    Nanos sum = 0;
    for (; at != list.end() && at->first < end; ++at) sum += at->second;
    return sum;
  }

  // Times of faults and migrations, and up to `copy.gpu_fault` behind each until the next one: what
  // a fault takes until it is reported, and the kernel goes on.
  IntervalSet WithPauses(IntervalSet moves) const {
    const auto most = Time("copy.gpu_fault");
    std::vector<Interval> longer;
    for (const Interval& move : moves.intervals()) {
      if (!longer.empty()) longer.back().end = std::min(move.start, longer.back().end + most);
      longer.push_back(move);
    }
    return IntervalSet::Of(std::move(longer));
  }

  // A kernel that faults waits for its pages: the time that faults and migrations take inside it is
  // not its own, but for what a prefetch takes.
  void Kernels() {
    std::vector<IntervalSet> sets;
    for (auto& intervals : when_) sets.push_back(IntervalSet::Of(std::move(intervals)));
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || Length(op) <= 0) continue;
      const std::uint32_t device = trace_.ops.device[op];
      const IntervalSet waits =
          WithPauses(sets[device].Clip(trace_.ops.start[op], trace_.ops.end[op]));
      if (waits.empty()) continue;
      const Nanos kept =
          std::min(waits.Total(), KeptInside(device, trace_.ops.start[op], trace_.ops.end[op]));
      const double part = 1 - static_cast<double>(kept) / static_cast<double>(waits.Total());
      for (const Interval& wait : waits.intervals()) {
        loss_.AddSpan(device,
                      wait.end - static_cast<Nanos>(part * static_cast<double>(wait.Length())),
                      wait.end);
      }
      loss_.ScaleOp(
          op, 1 - part * static_cast<double>(waits.Total()) / static_cast<double>(Length(op)));
    }
  }

  const double link_;  // bytes per second, 0 unknown
  bool both_ways_ = false;
  LossBuilder loss_;
  std::vector<std::vector<Interval>> when_;                             // by device
  std::map<std::uint32_t, std::vector<std::pair<Nanos, Nanos>>> kept_;  // by device: start, time
  std::vector<Nanos> back_starts_, back_ends_;                          // of migrations to the host
  std::vector<std::uint32_t> faulted_back_;     // those that the host's page faults caused
  std::map<std::uint32_t, IntervalSet> calls_;  // by thread
};

}  // namespace

Loss FindMigrations(const Basis& basis, double link) { return MigrationFinder(basis, link).Find(); }

}  // namespace advise
