#include "engine/metrics/losses/host_habits.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/metrics/losses/graphs.h"

namespace advise {
namespace {

class HabitFinder {
 public:
  HabitFinder(const Basis& basis, const Phases& phases)
      : basis_(basis), run_(basis.run), trace_(basis.run.trace), phases_(phases) {}

  HostHabits Find() {
    for (const Phase phase : kStallPhases) {
      result_.phases.push_back(basis_.idle.pieces.Any(phase)
                                   ? Idle([&](const GapPiece& p) { return p.phase == phase; })
                                   : LossBuilder(basis_).Build());
    }
    const auto doing = [this](Activity activity) {
      if (!basis_.idle.pieces.Any(activity)) return LossBuilder(basis_).Build();
      return Idle([&](const GapPiece& p) {
        return p.activity == activity && p.cause != IdleCause::kDataLoading;
      });
    };
    result_.sleep = doing(Activity::kSleep);
    result_.network = doing(Activity::kNetwork);
    result_.file_write = doing(Activity::kFileWrite);
    result_.os_wait = doing(Activity::kOsWait);
    LaunchWaits();
    FreeBursts();
    result_.optimizer_waits = Waits(Phase::kOptimizer);
    result_.backward_waits = Waits(Phase::kBackward);
    Moves();
    Cpus();
    Steps();
    Coverage();
    result_.graphs = FindGraphs(basis_);
    return std::move(result_);
  }

 private:
  Nanos CallLength(std::uint32_t call) const {
    return trace_.calls.end[call] - trace_.calls.start[call];
  }

  // Idle pieces of the steady loop that `keep` accepts; the remedy is that the host does not do it.
  template <typename Keep>
  Loss Idle(Keep keep) {
    LossBuilder loss(basis_);
    std::map<std::uint32_t, std::vector<Interval>> cuts;
    std::uint32_t last_gap = kNone;
    for (const GapPiece piece : basis_.idle.pieces) {
      if (!basis_.InLoop(piece.start) || !keep(piece)) continue;
      // Pieces of one gap are one event.
      if (piece.gap != last_gap) loss.Count(piece.start, 0, 0);
      last_gap = piece.gap;
      loss.AddSpan(piece.device, piece.start, piece.end);
      const std::uint32_t thread = basis_.idle.gaps[piece.gap].thread;
      if (thread != kNone) cuts[thread].push_back({piece.start, piece.end});
    }
    for (auto& [thread, intervals] : cuts) {
      loss.remedy().host_cuts.push_back({thread, IntervalSet::Of(std::move(intervals))});
    }
    return loss.Build();
  }

  // Launching calls that return only after the end of their kernel, as with CUDA_LAUNCH_BLOCKING=1.
  void LaunchWaits() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::size_t launches = 0;
    const auto longer = static_cast<Nanos>(run_.knowledge.Number("idle.host_ahead"));
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (trace_.ops.kind[op] != OpKind::kKernel || call == kNone ||
          run_.ClassOfCall(call) != CallClass::kLaunch || !basis_.InWindow(trace_.ops.start[op]))
        continue;
      // A kernel of a few microseconds may end before its launching call returns: only longer ones
      // tell.
      if (trace_.ops.end[op] - trace_.ops.start[op] < longer) continue;
      ++launches;
      if (trace_.calls.end[call] < trace_.ops.end[op]) continue;
      loss.Count(trace_.calls.start[call], 0, CallLength(call));
      blamed[call] = 1;
      loss.remedy().unblocked_calls.push_back(call);
    }
    result_.launch_wait_share =
        launches == 0 ? 0 : static_cast<double>(loss.count()) / static_cast<double>(launches);
    // Each gap before a kernel that was launched after such a wait.
    for (const GapPiece piece : basis_.idle.pieces) {
      const std::uint32_t call = CallOf(trace_, basis_.idle.gaps[piece.gap]);
      const bool host = piece.cause == IdleCause::kLaunch ||
                        piece.cause == IdleCause::kHostCompute ||
                        piece.cause == IdleCause::kHostSync;
      if (call != kNone && blamed[call] != 0 && host)
        loss.AddSpan(piece.device, piece.start, piece.end);
    }
    result_.launch_waits = loss.Build();
  }

  // Frees of device memory one after another, with nothing allocated between: a cache is emptied.
  void FreeBursts() {
    const auto least = static_cast<std::size_t>(run_.knowledge.Number("memory.burst_length"));
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    double frees = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<Interval> cuts;
      std::vector<std::uint32_t> burst;
      const auto close = [&] {
        if (burst.size() >= least) {
          loss.Count(trace_.calls.start[burst.front()], 0, 0);
          frees += static_cast<double>(burst.size());
          for (const std::uint32_t c : burst) {
            blamed[c] = 1;
            loss.remedy().unblocked_calls.push_back(c);
            cuts.push_back({trace_.calls.start[c], trace_.calls.end[c]});
          }
        }
        burst.clear();
      };
      for (std::uint32_t c = run_.calls_of_thread[thread].first;
           c < run_.calls_of_thread[thread].last; ++c) {
        const CallClass call_class = run_.ClassOfCall(c);
        if (call_class == CallClass::kFreeDevice && basis_.InLoop(trace_.calls.start[c])) {
          burst.push_back(c);
        } else if (!IsSync(call_class) && call_class != CallClass::kOther) {
          close();
        }
      }
      close();
      if (cuts.empty()) continue;
      const IntervalSet inside = IntervalSet::Of(cuts);
      for (const GapPiece piece : basis_.idle.pieces) {
        if (basis_.idle.gaps[piece.gap].thread != thread) continue;
        const IntervalSet part = inside.Clip(piece.start, piece.end);
        for (const Interval& i : part.intervals()) loss.AddSpan(piece.device, i.start, i.end);
      }
      loss.remedy().host_cuts.push_back({thread, inside});
    }
    loss.AddBlamed(blamed);
    result_.frees_per_burst = loss.count() == 0 ? 0 : frees / static_cast<double>(loss.count());
    result_.free_bursts = loss.Build();
  }

  // Synchronising calls and blocking copies that the host makes inside a phase of the loop.
  Loss Waits(Phase phase) {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if (phases_.OfCall(c) != phase || !basis_.InLoop(trace_.calls.start[c]) ||
          !BlocksHost(run_, c) || IsAllocation(run_.ClassOfCall(c)))
        continue;
      loss.Count(trace_.calls.start[c], 0, CallLength(c));
      blamed[c] = 1;
      loss.remedy().unblocked_calls.push_back(c);
    }
    loss.AddBlamed(blamed);
    return loss.Build();
  }

  // Memsets and copies that nothing runs beside.
  void Moves() {
    LossBuilder memsets(basis_);
    LossBuilder device(basis_);
    LossBuilder peer(basis_);
    LossBuilder lesser(basis_);
    std::vector<std::vector<Interval>> up(trace_.devices.size());
    std::vector<std::vector<Interval>> down(trace_.devices.size());
    std::vector<std::uint32_t> ups;
    std::vector<std::uint32_t> downs;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const Nanos start = trace_.ops.start[op];
      if (!basis_.InWindow(start)) continue;
      const std::uint32_t detail = trace_.ops.detail[op];
      const Nanos length = trace_.ops.end[op] - start;
      if (trace_.ops.kind[op] == OpKind::kMemset) {
        memsets.Count(start, static_cast<double>(trace_.memsets.bytes[detail]), length);
        memsets.AddExposed(op);
        memsets.remedy().scaled_ops.emplace_back(op, 0.0F);
        continue;
      }
      if (trace_.ops.kind[op] != OpKind::kCopy) continue;
      const auto bytes = static_cast<double>(trace_.copies.bytes[detail]);
      switch (trace_.copies.direction[detail]) {
        case CopyDirection::kDeviceToDevice:
          device.Count(start, bytes, length);
          device.AddExposed(op);
          device.remedy().scaled_ops.emplace_back(op, 0.0F);
          break;
        case CopyDirection::kPeerToPeer:
          peer.Count(start, bytes, length);
          peer.AddExposed(op);
          peer.remedy().detached_ops.push_back(op);
          break;
        case CopyDirection::kMigrationToHost:
          result_.migrated_back_bytes += bytes;
          break;
        case CopyDirection::kHostToDevice:
          up[trace_.ops.device[op]].push_back({start, trace_.ops.end[op]});
          ups.push_back(op);
          break;
        case CopyDirection::kDeviceToHost:
          down[trace_.ops.device[op]].push_back({start, trace_.ops.end[op]});
          downs.push_back(op);
          break;
        default:
          break;
      }
    }
    Nanos up_time = 0;
    Nanos down_time = 0;
    Nanos both = 0;
    for (std::size_t d = 0; d < up.size(); ++d) {
      const IntervalSet a = IntervalSet::Of(std::move(up[d]));
      const IntervalSet b = IntervalSet::Of(std::move(down[d]));
      up_time += a.Total();
      down_time += b.Total();
      both += a.Intersect(b).Total();
    }
    const bool less_up = up_time < down_time;
    const Nanos less = less_up ? up_time : down_time;
    result_.duplex_share = less > 0 ? static_cast<double>(both) / static_cast<double>(less) : 0;
    for (const std::uint32_t op : less_up ? ups : downs) {
      lesser.Count(trace_.ops.start[op],
                   static_cast<double>(trace_.copies.bytes[trace_.ops.detail[op]]),
                   trace_.ops.end[op] - trace_.ops.start[op]);
      lesser.AddExposed(op);
      lesser.remedy().detached_ops.push_back(op);
    }
    result_.memsets = memsets.Build();
    result_.device_copies = device.Build();
    result_.peer_copies = peer.Build();
    result_.one_way = lesser.Build();
  }

  // How often launching threads wake up on another CPU.
  void Cpus() {
    result_.moves_per_s = -1;
    if (trace_.sched.size() == 0 || run_.launching_threads.empty()) return;
    const std::vector<RowRange> rows = RowsByThread(trace_.sched.thread, trace_.threads.size());
    double moves = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      int last = -1;
      for (std::uint32_t i = rows[thread].first; i < rows[thread].last; ++i) {
        if (trace_.sched.on[i] == 0 || !basis_.InWindow(trace_.sched.time[i])) continue;
        if (last >= 0 && last != trace_.sched.cpu[i]) moves += 1;
        last = trace_.sched.cpu[i];
      }
    }
    const double seconds = static_cast<double>(run_.window.Length()) / kNanosPerSecond;
    result_.moves_per_s =
        seconds > 0 ? moves / seconds / static_cast<double>(run_.launching_threads.size()) : 0;
  }

  void Steps() {
    std::vector<double> lengths;
    for (std::size_t i = run_.steps.first_steady; i < run_.steps.all.size(); ++i) {
      if (run_.steps.IsOutlier(i)) continue;
      lengths.push_back(static_cast<double>(run_.steps.all[i].Length()));
    }
    const std::size_t third = lengths.size() / 3;
    if (third < static_cast<std::size_t>(run_.knowledge.Number("step.drift_steps"))) return;
    const auto from = [&](std::size_t first) {
      const auto at = lengths.begin() + static_cast<std::ptrdiff_t>(first);
      return Median(std::vector<double>(at, at + static_cast<std::ptrdiff_t>(third)));
    };
    const double early = from(0);
    if (early > 0) result_.step_drift = from(lengths.size() - third) / early - 1;
    // Two kinds: the widest relative distance between neighbours, away from the ends.
    std::sort(lengths.begin(), lengths.end());
    const double least = run_.knowledge.Number("step.kind_share");
    const auto edge = std::max<std::size_t>(
        1, static_cast<std::size_t>(least * static_cast<double>(lengths.size())));
    double widest = 0;
    for (std::size_t i = edge; i + edge <= lengths.size(); ++i) {
      const double ratio = lengths[i - 1] > 0 ? lengths[i] / lengths[i - 1] : 0;
      if (ratio <= widest) continue;
      widest = ratio;
      result_.two_kinds_share =
          static_cast<double>(lengths.size() - i) / static_cast<double>(lengths.size());
      result_.two_kinds_ratio = ratio;
    }
  }

  void Coverage() {
    double known = 0;
    double all = 0;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      if (trace_.ops.call[op] == kNone || !basis_.InWindow(trace_.ops.start[op])) continue;
      const auto length = static_cast<double>(trace_.ops.end[op] - trace_.ops.start[op]);
      all += length;
      if (phases_.OfOp(run_, op) != Phase::kUnnamed) known += length;
    }
    result_.range_coverage = all > 0 ? known / all : 0;
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  HostHabits result_;
};

}  // namespace

HostHabits FindHostHabits(const Basis& basis, const Phases& phases) {
  return HabitFinder(basis, phases).Find();
}

}  // namespace advise
