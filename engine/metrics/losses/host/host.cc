#include "engine/metrics/losses/host/host.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/metrics/losses/host/delays.h"
#include "engine/metrics/losses/host/preemption.h"
#include "engine/metrics/losses/host/shared_gpus.h"
#include "engine/timeline/compiling.h"
#include "engine/timeline/host_activity.h"

namespace advise {
namespace {

class HostFinder : Finder {
 public:
  explicit HostFinder(const Basis& basis) : Finder(basis), compiling_(CompilingPauses(basis.run)) {}

  Host Find() {
    Allocations();
    Compilation();
    Locks();
    Preemption preemption = FindPreemption(basis_);
    result_.preempted_ns = preemption.per_device_ns;
    result_.preempted = std::move(preemption.loss);
    FindKept();
    FreeBursts();
    KeptMemory();
    CpuMoves();
    Memory();
    SharedGpus shared = FindSharedGpus(basis_);
    result_.gpu_processes = shared.processes;
    result_.gpu_switch = std::move(shared.turns);
    result_.one_gpu = std::move(shared.one_for_all);
    result_.starts = FindProcessStarts(basis_);
    return std::move(result_);
  }

 private:
  // Allocating, freeing and registering calls: they hold the host, and many wait for the whole
  // device.
  void Allocations() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    std::map<StringId, double> names;
    const Nanos middle = run_.window.start + run_.window.Length() / 2;
    double late = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      std::uint32_t before = kNone;  // the call before
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        const std::uint32_t previous = std::exchange(before, c);
        if (!IsAllocation(run_.ClassOfCall(c)) || !basis_.InLoop(trace_.calls.start[c])) continue;
        // Whoever frees what a kernel may still use waits for all work first: as when a library's
        // object ends that was made for one call.
        if (run_.ClassOfCall(c) == CallClass::kFreeDevice && previous != kNone &&
            run_.ClassOfCall(previous) == CallClass::kSyncDevice && IsBehindKernel(previous))
          loss.remedy().unblocked_calls.push_back(previous);
        const Nanos length = trace_.calls.end[c] - trace_.calls.start[c];
        loss.Count(trace_.calls.start[c], 0, length);
        names[trace_.calls.name[c]] += static_cast<double>(length);
        if (trace_.calls.start[c] >= middle) late += 1;
        // Without work to wait for, it costs its own time: not what the thread does behind it.
        blamed[c] = GpuWorksIn({trace_.calls.start[c], trace_.calls.end[c]}) ? 1 : 0;
        loss.remedy().unblocked_calls.push_back(c);
        loss.CutHost(thread, trace_.calls.start[c], trace_.calls.end[c]);
      }
    }
    loss.AddBlamed(blamed);
    AddPieces(
        [this](const GapPiece& p) {
          return p.cause == IdleCause::kAllocation && basis_.InLoop(p.start);
        },
        &loss);
    double most = 0;
    for (const auto& [name, time] : names) {
      if (time > most) most = time, result_.alloc_name = trace_.strings[name];
    }
    result_.alloc = loss.Build();
    if (result_.alloc.count > 0)
      result_.alloc_late_share = late / static_cast<double>(result_.alloc.count);
  }

  // Whether a GPU had work at some time of this span.
  bool GpuWorksIn(const Interval& span) const {
    return std::any_of(run_.active_devices.begin(), run_.active_devices.end(), [&](auto device) {
      return basis_.times[device].idle.OverlapWith(span.start, span.end) < span.Length();
    });
  }

  // Whether what the thread launched last before the call is a kernel.
  bool IsBehindKernel(std::uint32_t call) const {
    const RowRange rows = run_.calls_of_thread[trace_.calls.thread[call]];
    for (std::uint32_t c = call; c > rows.first; --c) {
      const std::uint32_t op = run_.first_op_of_call[c - 1];
      if (op != kNone) return trace_.ops.kind[op] == OpKind::kKernel;
    }
    return false;
  }

  template <typename Keep>
  void AddPieces(Keep keep, LossBuilder* loss) {
    for (const GapPiece piece : basis_.idle.pieces) {
      if (keep(piece)) loss->AddPiece(piece);
    }
  }

  void Compilation() {
    if (!basis_.idle.pieces.Any(IdleCause::kJitOrModuleLoad) && !LoadsInLoop()) return;
    LossBuilder loss(basis_);
    const std::map<std::uint32_t, IntervalSet> counted = AddDelaysByLoads(&loss);
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause != IdleCause::kJitOrModuleLoad || !basis_.InLoop(piece.start)) continue;
      // The pause before a load is part of the same compilation.
      const auto of_thread = counted.find(basis_.idle.ThreadOf(piece));
      const bool again =
          of_thread != counted.end() && of_thread->second.OverlapWith(piece.start, piece.end) > 0;
      if (piece.activity != Activity::kCode && !again) loss.Count(piece.start, 0, piece.Length());
      loss.AddPiece(piece);
    }
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        const CallClass call_class = run_.ClassOfCall(c);
        const Nanos start = trace_.calls.start[c];
        if (!IsCodeLoading(call_class) || !basis_.InLoop(start)) continue;
        loss.CutHost(thread, start, trace_.calls.end[c]);
      }
      for (const Interval& pause : compiling_[thread].intervals()) {
        if (basis_.InLoop(pause.start)) loss.CutHost(thread, pause.start, pause.end);
      }
    }
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.cause == IdleCause::kJitOrModuleLoad)
        loss.CutHost(basis_.idle.ThreadOf(piece), piece.start, piece.end);
    }
    result_.jit = loss.Build();
  }

  bool LoadsInLoop() const {
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t c : run_.calls_of_thread[thread])
        if (IsCodeLoading(run_.ClassOfCall(c)) && basis_.InLoop(trace_.calls.start[c])) return true;
    }
    return false;
  }

  // Code that is loaded while the GPU still has work: the thread comes late to what it does next.
  // By thread: the loads that are counted.
  std::map<std::uint32_t, IntervalSet> AddDelaysByLoads(LossBuilder* loss) const {
    std::map<std::uint32_t, std::vector<Interval>> loads;
    std::pair<std::uint32_t, Nanos> last{kNone, 0};  // one load delays much that follows
    ForEachDelay(
        basis_,
        [&](std::uint32_t, const HostPiece& piece) {
          const bool load =
              piece.activity == Activity::kModuleLoad || piece.activity == Activity::kJit;
          return load && basis_.InLoop(piece.start);
        },
        [&](const Delay& delay) {
          loss->AddSpan(delay.device, delay.idle.start, delay.idle.end);
          const std::pair<std::uint32_t, Nanos> load{delay.thread, delay.piece.start};
          if (std::exchange(last, load) == load) return;
          loss->Count(delay.piece.start, 0, delay.piece.end - delay.piece.start);
          loads[delay.thread].push_back({delay.piece.start, delay.piece.end});
        });
    std::map<std::uint32_t, IntervalSet> counted;
    for (auto& [thread, list] : loads) counted[thread] = IntervalSet::Of(std::move(list));
    return counted;
  }

  void Locks() {
    LossBuilder loss(basis_);
    std::set<std::uint32_t> again;  // threads that wait in the loop
    for (const GapPiece piece : basis_.idle.pieces) {
      if (piece.activity != Activity::kLock || piece.cause != IdleCause::kHostWait) continue;
      const std::uint32_t thread = basis_.idle.ThreadOf(piece);
      loss.CountPiece(piece);
      loss.CutHost(thread, piece.start, piece.end);
      if (thread != kNone && basis_.InLoop(piece.start) && run_.steps.known()) again.insert(thread);
    }
    AddDelaysByLocks(&loss, &again);
    for (const std::uint32_t thread : again) CutLocks(thread, &loss);
    result_.lock = loss.Build();
  }

  // A lock that is waited for while the GPU still has work: the thread comes late to what it does
  // next. Adds the threads that are delayed so.
  void AddDelaysByLocks(LossBuilder* loss, std::set<std::uint32_t>* threads) const {
    if (!LaunchingThreadsCall(run_, OsClass::kLock)) return;
    std::pair<std::uint32_t, Nanos> last{kNone, 0};  // one wait delays much that follows
    ForEachDelay(
        basis_,
        [](std::uint32_t, const HostPiece& piece) {
          return piece.activity == Activity::kLock && CauseOf(piece) == IdleCause::kHostWait;
        },
        [&](const Delay& delay) {
          loss->AddSpan(delay.device, delay.idle.start, delay.idle.end);
          threads->insert(delay.thread);
          const std::pair<std::uint32_t, Nanos> wait{delay.thread, delay.piece.start};
          if (std::exchange(last, wait) != wait) loss->Count(delay.piece.start, 0, 0);
        });
  }

  // Who no longer holds the lock holds it at no place of the loop: the thread waits nowhere, also
  // where the GPU has enough to do.
  void CutLocks(std::uint32_t thread, LossBuilder* loss) const {
    const OsCallTable& os = trace_.os_calls;
    HostActivity activity(run_, thread);
    for (const std::uint32_t row : run_.os_of_thread[thread]) {
      if (run_.names.Os(os.name[row]) != OsClass::kLock || !basis_.InLoop(os.start[row])) continue;
      for (const HostPiece& piece : activity.Pieces(os.start[row], os.end[row])) {
        if (piece.activity == Activity::kLock && CauseOf(piece) == IdleCause::kHostWait)
          loss->CutHost(thread, piece.start, piece.end);
      }
    }
  }

  // The level of device memory over time, and how the lowest level of each step moves. Memory is
  // allocated when the host is there, steps are where the GPU is: their ends meet any level.
  void Memory() {
    const MemoryTable& memory = trace_.memory;
    std::map<std::uint32_t, double> level;
    std::map<std::uint32_t, double> reserved;  // by a caching allocator
    double peak = -1;
    std::vector<double> lowest;  // by step
    std::size_t step = run_.steps.first_steady;
    double now = 0;
    double least = 0;
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory.memory[i] != MemoryKind::kDevice &&
          memory.memory[i] != MemoryKind::kDeviceStatic &&
          memory.memory[i] != MemoryKind::kManaged) {
        continue;
      }
      while (step < run_.steps.all.size() && memory.time[i] >= run_.steps.all[step].end) {
        lowest.push_back(least);
        least = now;
        ++step;
      }
      double& used = level[memory.device[i]];
      used += static_cast<double>(memory.bytes[i]);
      peak = std::max(peak, used);
      now += static_cast<double>(memory.bytes[i]);
      const bool in_steps = step > run_.steps.first_steady || run_.steps.all.empty() ||
                            memory.time[i] >= run_.steps.all[run_.steps.first_steady].start;
      least = in_steps ? std::min(least, now) : now;
      if (memory.reserved.empty() || memory.reserved[i] < 0) continue;
      double& held = reserved[memory.device[i]];
      held = std::max(held, static_cast<double>(memory.reserved[i]));
      if (held > result_.memory_reserved_peak) result_.memory_reserved_peak = held;
    }
    if (peak < 0) return;
    // The last steps of the GPU may come when the host has done all of its own.
    if (step < run_.steps.all.size()) lowest.push_back(least);
    // What the allocator holds is gone for others, used or not.
    if (result_.memory_reserved_peak > 0) result_.memory_allocated_peak = peak;
    result_.memory_peak = std::max(peak, result_.memory_reserved_peak);
    if (lowest.size() < 2) return;
    std::vector<double> rises;
    for (std::size_t i = 1; i < lowest.size(); ++i) rises.push_back(lowest[i] - lowest[i - 1]);
    const auto up = std::count_if(rises.begin(), rises.end(), [](double r) { return r > 0; });
    result_.growth_steps = static_cast<double>(up) / static_cast<double>(rises.size());
    result_.growth_per_step = Median(rises);
  }

  // A cache of device memory that is emptied in the loop, and what fills it again.
  void FreeBursts() {
    LossBuilder loss(basis_);
    std::vector<std::uint8_t> blamed(trace_.calls.size(), 0);
    const std::vector<std::vector<std::uint32_t>> bursts = BurstsOfFrees();
    std::size_t retried = 0;
    for (const std::vector<std::uint32_t>& burst : bursts) {
      loss.Count(trace_.calls.start[burst.front()], 0, 0);
      for (const std::uint32_t c : burst) blamed[c] = 1;
      if (IsForRequest(burst)) ++retried;
    }
    if (!bursts.empty())
      result_.retried_bursts = static_cast<double>(retried) / static_cast<double>(bursts.size());
    Refills(&blamed);
    Blame(blamed, &loss);
    result_.free_bursts = loss.Build();
  }

  // The calls are gone, and cost the idle time inside them and until the host is ahead again.
  void Blame(const std::vector<std::uint8_t>& blamed, LossBuilder* loss) const {
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<Interval> cuts;
      const RowRange calls = run_.calls_of_thread[thread];
      for (const std::uint32_t c : calls) {
        if (blamed[c] == 0) continue;
        loss->remedy().unblocked_calls.push_back(c);
        cuts.push_back({trace_.calls.start[c], trace_.calls.end[c]});
      }
      if (cuts.empty()) continue;
      const IntervalSet inside = IntervalSet::Of(cuts);
      for (const GapPiece piece : basis_.idle.pieces) {
        if (basis_.idle.ThreadOf(piece) != thread) continue;
        loss->AddSpans(piece.device, inside.Clip(piece.start, piece.end));
      }
      loss->remedy().host_cuts.push_back({thread, inside});
    }
    loss->AddBlamed(blamed);
  }

  // Allocations of device memory that nothing frees again. Where the driver's memory events are
  // missing, any may be kept.
  void KeptMemory() {
    if (!knows_kept_) {
      result_.kept = result_.alloc;
      return;
    }
    LossBuilder loss(basis_);
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      const Nanos start = trace_.calls.start[c];
      if (kept_[c] != 0) loss.Count(start, 0, trace_.calls.end[c] - start);
    }
    Blame(kept_, &loss);
    result_.kept = loss.Build();
  }

  // Of the steady loop, by their addresses.
  void FindKept() {
    const MemoryTable& memory = trace_.memory;
    using Block = std::pair<std::uint32_t, std::uint64_t>;  // process and address
    std::map<Block, Nanos> open;                            // and when it was allocated
    for (std::size_t i = 0; i < memory.size(); ++i) {
      if (memory.memory[i] != MemoryKind::kDevice) continue;
      if (!memory.reserved.empty() && memory.reserved[i] >= 0) continue;  // of an allocator
      knows_kept_ = true;
      const Block block{memory.process[i], memory.address[i]};
      if (memory.bytes[i] > 0) {
        open[block] = memory.time[i];
      } else {
        open.erase(block);
      }
    }
    std::map<std::uint32_t, std::vector<Nanos>> kept;  // by process, in order
    for (const auto& [block, time] : open) kept[block.first].push_back(time);
    for (auto& [process, times] : kept) std::sort(times.begin(), times.end());
    kept_.assign(trace_.calls.size(), 0);
    for (const std::uint32_t thread : run_.launching_threads) {
      const std::vector<Nanos>& times = kept[trace_.threads[thread].process];
      const RowRange calls = run_.calls_of_thread[thread];
      for (const std::uint32_t c : calls) {
        const Nanos start = trace_.calls.start[c];
        if (run_.ClassOfCall(c) != CallClass::kAllocDevice || !basis_.InLoop(start)) continue;
        const auto at = std::lower_bound(times.begin(), times.end(), start);
        if (at != times.end() && *at <= trace_.calls.end[c]) kept_[c] = 1;
      }
    }
  }

  // An allocator that gives its cache back because a request failed does so between two requests:
  // behind one that the driver refused, and right before it asks again. Code of the program stands
  // between a cache that is emptied on purpose and the next request.
  bool IsForRequest(const std::vector<std::uint32_t>& burst) const {
    const auto pause = Time("memory.retry_pause");
    const RowRange calls = run_.calls_of_thread[trace_.calls.thread[burst.front()]];
    const auto asks = [&](std::uint32_t call) {
      return run_.ClassOfCall(call) == CallClass::kAllocDevice;
    };
    std::uint32_t before = burst.front();
    while (before > calls.first && IsSync(run_.ClassOfCall(before - 1)) &&
           trace_.calls.start[before] - trace_.calls.end[before - 1] <= pause)
      --before;
    if (before > calls.first && asks(before - 1) &&
        trace_.calls.start[before] - trace_.calls.end[before - 1] <= pause)
      return true;
    const std::uint32_t next = burst.back() + 1;
    return next < calls.last && asks(next) &&
           trace_.calls.start[next] - trace_.calls.end[burst.back()] <= pause;
  }

  // Frees of device memory one after another on a thread, with nothing allocated between.
  std::vector<std::vector<std::uint32_t>> BurstsOfFrees() const {
    const auto least = CountOf("memory.burst_length");
    std::vector<std::vector<std::uint32_t>> bursts;
    for (const std::uint32_t thread : run_.launching_threads) {
      std::vector<std::uint32_t> burst;
      const auto close = [&] {
        if (burst.size() >= least) bursts.push_back(burst);
        burst.clear();
      };
      const RowRange calls = run_.calls_of_thread[thread];
      for (const std::uint32_t c : calls) {
        const CallClass call_class = run_.ClassOfCall(c);
        if (call_class == CallClass::kFreeDevice && basis_.InLoop(trace_.calls.start[c])) {
          burst.push_back(c);
        } else if (!IsSync(call_class) && call_class != CallClass::kOther) {
          close();
        }
      }
      close();
    }
    return bursts;
  }

  // Blames, in each process with blamed frees, as many allocations of device memory: a cache that
  // had kept the memory would not ask the driver for it. Those before the first burst of the window
  // answer one from before it.
  void Refills(std::vector<std::uint8_t>* blamed) const {
    std::map<std::uint32_t, std::size_t> freed;  // by process
    for (std::uint32_t c = 0; c < trace_.calls.size(); ++c) {
      if ((*blamed)[c] != 0) ++freed[run_.ProcessOfCall(c)];
    }
    for (const std::uint32_t thread : run_.launching_threads) {
      const auto left = freed.find(trace_.threads[thread].process);
      const RowRange calls = run_.calls_of_thread[thread];
      for (std::uint32_t c = calls.first; c < calls.last && left != freed.end(); ++c) {
        if (left->second == 0) break;
        if (run_.ClassOfCall(c) != CallClass::kAllocDevice || kept_[c] != 0 ||
            !basis_.InLoop(trace_.calls.start[c]))
          continue;
        (*blamed)[c] = 1;
        --left->second;
      }
    }
  }

  // How often launching threads wake up on another CPU.
  void CpuMoves() {
    result_.cpu_moves_per_s = -1;
    if (trace_.sched.size() == 0 || run_.launching_threads.empty()) return;
    const std::vector<RowRange> rows = RowsByThread(trace_.sched.thread, trace_.threads.size());
    double moves = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      int last = -1;
      for (const std::uint32_t i : rows[thread]) {
        if (trace_.sched.on[i] == 0 || !basis_.InWindow(trace_.sched.time[i])) continue;
        if (last >= 0 && last != trace_.sched.cpu[i]) moves += 1;
        last = trace_.sched.cpu[i];
      }
    }
    const double seconds = static_cast<double>(run_.window.Length()) / kNanosPerSecond;
    result_.cpu_moves_per_s =
        seconds > 0 ? moves / seconds / static_cast<double>(run_.launching_threads.size()) : 0;
  }

  const std::vector<IntervalSet> compiling_;
  bool knows_kept_ = false;         // the driver's allocations and frees were recorded
  std::vector<std::uint8_t> kept_;  // by call: it allocates what nothing frees again
  Host result_;
};

}  // namespace

Host FindHost(const Basis& basis) { return HostFinder(basis).Find(); }

}  // namespace advise
