#include "engine/metrics/losses/copies/migrations.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace advise {
namespace {

class MigrationFinder : Finder {
 public:
  explicit MigrationFinder(const Basis& basis)
      : Finder(basis), loss_(basis), when_(trace_.devices.size()) {}

  Loss Find() {
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
    loss_.RemoveOp(op);
    when_[trace_.ops.device[op]].push_back({trace_.ops.start[op], trace_.ops.end[op]});
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
      loss_.CutHost(next->thread, moves.start, moves.end);
    }
  }

  // A kernel that faults waits for its pages: the time that faults and migrations take inside it is
  // not its own.
  void Kernels() {
    std::vector<IntervalSet> sets;
    for (auto& intervals : when_) sets.push_back(IntervalSet::Of(std::move(intervals)));
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.kind[op] != OpKind::kKernel || Length(op) <= 0) continue;
      const std::uint32_t device = trace_.ops.device[op];
      const IntervalSet waits = sets[device].Clip(trace_.ops.start[op], trace_.ops.end[op]);
      if (waits.empty()) continue;
      loss_.AddSpans(device, waits);
      loss_.ScaleOp(op, 1.0F - static_cast<float>(static_cast<double>(waits.Total()) /
                                                  static_cast<double>(Length(op))));
    }
  }

  LossBuilder loss_;
  std::vector<std::vector<Interval>> when_;     // by device
  std::vector<Nanos> back_starts_, back_ends_;  // of migrations to the host
  std::vector<std::uint32_t> faulted_back_;     // those that the host's page faults caused
  std::map<std::uint32_t, IntervalSet> calls_;  // by thread
};

}  // namespace

Loss FindMigrations(const Basis& basis) { return MigrationFinder(basis).Find(); }

}  // namespace advise
