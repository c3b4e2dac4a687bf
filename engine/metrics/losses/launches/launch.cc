#include "engine/metrics/losses/launches/launch.h"

#include <algorithm>
#include <map>

#include "engine/base/hash.h"
#include "engine/metrics/losses/copies/copy.h"
#include "engine/metrics/losses/host/delays.h"
#include "engine/metrics/losses/launches/awaited_kernels.h"
#include "engine/metrics/losses/launches/behind_launches.h"
#include "engine/replay/launch_queue.h"
#include "engine/timeline/blocking_calls.h"
#include "engine/timeline/pause.h"

namespace advise {
namespace {

class LaunchFinder : Finder {
 public:
  explicit LaunchFinder(const Basis& basis)
      : Finder(basis),
        long_gap_ns_(Time("launch.long_gap")),
        tiny_ns_(Time("launch.tiny_kernel")),
        longest_spacing_(Time("idle.launch_latency")),
        graph_spacing_(Number("replay.graph_spacing")),
        long_pauses_(LongPauses(run_)) {}

  Launches Find() {
    Kernels();
    Queue();
    Gaps();
    Sequence();
    Slow();
    Trains();
    Waits();
    return std::move(result_);
  }

 private:
  bool IsLaunch(std::uint32_t call) const {
    const CallClass c = run_.ClassOfCall(call);
    return c == CallClass::kLaunch || c == CallClass::kGraphLaunch;
  }
  // A launch, or a copy or memset that the host does not wait for.
  bool QueuesWork(std::uint32_t call) const {
    const CallClass c = run_.ClassOfCall(call);
    return IsLaunch(call) || ((c == CallClass::kCopyAsync || c == CallClass::kMemsetAsync) &&
                              !BlocksHost(run_, call));
  }

  void Kernels() {
    std::vector<float> lengths;
    StepCounter counter(run_);
    std::size_t tiny = 0;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      const Nanos length = Length(op);
      lengths.push_back(static_cast<float>(length));
      counter.Count(trace_.ops.start[op]);
      if (length < tiny_ns_ && trace_.ops.in_graph[op] == 0) {
        ++tiny;
        result_.tiny_ns += static_cast<double>(length);
      }
    }
    result_.tiny_share =
        lengths.empty() ? 0 : static_cast<double>(tiny) / static_cast<double>(lengths.size());
    result_.kernel_median_ns = static_cast<double>(Median(std::move(lengths)));
    result_.kernels_per_step = counter.PerStep() / Devices();
    result_.tiny_ns /= Devices();
  }

  // Calls `visit(op, call, until)` for each launched op of the window in time order; `until` is
  // when what came before it on the device had ended.
  template <typename Visit>
  void ForEachLaunch(Visit visit) const {
    std::vector<Nanos> until(trace_.devices.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      Nanos& ended = until[trace_.ops.device[op]];
      if (call != kNone && run_.first_op_of_call[call] == op && IsLaunch(call) &&
          basis_.InWindow(trace_.ops.start[op])) {
        visit(op, call, ended);
      }
      ended = std::max(ended, trace_.ops.end[op]);
    }
  }

  // Had the device anything left to do when the op's launch could reach it? A launch takes its time
  // from call to device: work that ends meanwhile is no queue. How long it takes is what ops needed
  // that were launched to an idle device.
  void Queue() {
    std::size_t all = 0;
    std::size_t single = 0;    // what launches a graph takes longer, and its length is its own fact
    std::vector<float> calls;  // of these
    std::vector<float> latencies;
    const double near = Number("launch.near_factor") * static_cast<double>(tiny_ns_);
    ForEachLaunch([&](std::uint32_t op, std::uint32_t call, Nanos until) {
      ++all;
      const Nanos lead = trace_.ops.start[op] - trace_.calls.end[call];
      if (trace_.ops.in_graph[op] == 0 && trace_.ops.kind[op] != OpKind::kGraph) {
        ++single;
        if (static_cast<double>(lead) < near) calls.push_back(static_cast<float>(CallLength(call)));
      }
      if (until <= trace_.calls.end[call]) latencies.push_back(static_cast<float>(lead));
    });
    const auto least = CountOf("launch.latency_count");
    const auto longest = Time("idle.launch_latency");
    if (latencies.size() >= least)
      latency_ = std::clamp<Nanos>(static_cast<Nanos>(Median(std::move(latencies))), 0, longest);
    std::size_t empty = 0;
    came_late_.resize(trace_.calls.size(), 0);
    ForEachLaunch([&](std::uint32_t op, std::uint32_t call, Nanos until) {
      const bool waited = trace_.ops.start[op] > until;
      if (until > trace_.calls.end[call] && !(waited && IsLate(call, until))) return;
      ++empty;
      came_late_[call] = 1;
    });
    result_.count = static_cast<std::int64_t>(all);
    result_.queue_empty = all == 0 ? 0 : static_cast<double>(empty) / static_cast<double>(all);
    // A host that is always far ahead was held back only where the queue was full.
    const bool told = 2 * calls.size() >= single || calls.size() >= CountOf("replay.queue.samples");
    result_.call_median_ns = told ? static_cast<double>(Median(std::move(calls)))
                                  : static_cast<double>(MeasureQueues(run_).usual_call);
  }

  // Whether the device ran out of work before the call could have reached it.
  bool IsLate(std::uint32_t call, Nanos out_of_work) const {
    return out_of_work < trace_.calls.end[call] + latency_;
  }

  // The node of a graph that follows another one: nothing launches it.
  bool InsideGraph(std::uint32_t op) const {
    const std::uint32_t call = trace_.ops.call[op];
    return trace_.ops.in_graph[op] != 0 && call != kNone && run_.first_op_of_call[call] != op;
  }

  // Code that goes on for so long is not the code between two launches, however short the GPU is
  // idle in it.
  bool InLongPause(const GapPiece& piece) const {
    const std::uint32_t thread = basis_.idle.ThreadOf(piece);
    return piece.cause == IdleCause::kHostCompute && thread != kNone &&
           PauseAround(run_, thread, piece.start).Length() > long_pauses_[thread];
  }

  // A gap before a kernel that was in the queue: what the device needs from one to the next, and
  // less of it between two nodes of a graph.
  void AddSpacing(const Gap& gap, LossBuilder* nodes) const {
    const bool kernel = trace_.ops.kind[gap.op] == OpKind::kKernel && !run_.IsComm(gap.op);
    if (!kernel || trace_.ops.in_graph[gap.op] != 0 || gap.Length() > longest_spacing_) return;
    const auto less = static_cast<Nanos>((1 - graph_spacing_) * static_cast<double>(gap.Length()));
    nodes->AddSpan(gap.device, gap.start, gap.start + less);
  }

  // Gaps between kernels that are short and that launching (or the code between launches) makes.
  // Behind a launch that came in time lies only what the device needs from kernel to kernel.
  void Gaps() {
    LossBuilder bound(basis_);
    LossBuilder graph(basis_);
    LossBuilder nodes(basis_);
    LossBuilder framework(basis_);
    std::vector<float> lengths;
    std::uint32_t counted = kNone;  // a gap is one, also where a wait in it is not counted
    for (const GapPiece piece : basis_.idle.pieces) {
      const Gap gap = basis_.idle.gaps[piece.gap];
      const bool launching =
          piece.cause == IdleCause::kLaunch || piece.cause == IdleCause::kHostCompute;
      const bool special = piece.phase >= Phase::kEvaluation;
      if (!launching || special || gap.op == kNone || InsideGraph(gap.op)) continue;
      if (IsOfHost(gap.op)) continue;  // who launches kernels otherwise still calls it
      const std::uint32_t launch = trace_.ops.call[gap.op];
      if (launch == kNone) continue;
      if (!IsLate(launch, gap.start)) {
        if (piece.start == gap.start) AddSpacing(gap, &nodes);
        continue;
      }
      if (gap.Length() <= long_gap_ns_ && !InLongPause(piece)) {
        bound.AddPiece(piece);
        graph.AddPiece(piece);
        if (piece.gap != counted) {
          counted = piece.gap;
          lengths.push_back(static_cast<float>(gap.Length()));
          bound.Count(piece.start, 0, gap.Length());
          graph.Count(piece.start, 0, gap.Length());
        }
      } else if (piece.cause == IdleCause::kHostCompute) {
        framework.AddPiece(piece);
        if (piece.start == gap.start) framework.Count(piece.start, 0, gap.Length());
      }
    }
    result_.gap_median_ns = static_cast<double>(Median(std::move(lengths)));
    // In a graph all launches and the code between them are no longer there. Less of a change does
    // away with those that came late, and what belongs to them.
    auto all = std::make_shared<Remedy>();
    Nanos launching_ns = 0;  // of the host
    Nanos other_ns = 0;      // what it does for long between launches
    for (const std::uint32_t thread : run_.launching_threads) {
      const RowRange rows = run_.calls_of_thread[thread];
      Nanos previous = rows.empty() ? 0 : trace_.calls.start[rows.first];
      std::vector<std::uint32_t> help;  // since the last launch
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        const Nanos between = trace_.calls.start[c] - previous;
        previous = std::max(previous, trace_.calls.end[c]);
        if (!basis_.InWindow(trace_.calls.start[c])) continue;
        if (between > long_gap_ns_) {
          other_ns += between;
          continue;
        }
        const CallClass call_class = run_.ClassOfCall(c);
        const std::uint32_t op = run_.first_op_of_call[c];
        const bool kernel =
            call_class == CallClass::kLaunch && op != kNone && trace_.ops.in_graph[op] == 0;
        const bool small_help = call_class == CallClass::kMemsetAsync ||
                                call_class == CallClass::kEventRecord ||
                                call_class == CallClass::kStreamWaitEvent ||
                                call_class == CallClass::kQuery || call_class == CallClass::kOther;
        if (small_help) help.push_back(c);
        if (kernel || small_help) {
          all->vanished_calls.push_back(c);
          launching_ns += std::max<Nanos>(0, between) + CallLength(c);
        }
        if (!kernel) continue;
        if (came_late_[c] != 0) {
          std::vector<std::uint32_t>& vanished = bound.remedy().vanished_calls;
          vanished.insert(vanished.end(), help.begin(), help.end());
          vanished.push_back(c);
        }
        help.clear();
      }
    }
    result_.bound = bound.Build();
    // The host may also be late for other code because it launched for so long before.
    AddBehindLaunches(basis_, all->vanished_calls, &graph);
    result_.graph = graph.Build();
    // Where both keep the host from being ahead, what takes more of its time is to be fixed first.
    all->makes_room =
        result_.graph.lost->Total() > 2 * result_.bound.lost->Total() && other_ns >= launching_ns;
    for (const std::uint32_t d : run_.active_devices)
      nodes.AddSpans(d, result_.graph.lost->by_device[d]);
    result_.nodes = nodes.Build();
    result_.nodes.remedy = std::make_shared<Remedy>(*all);
    result_.nodes.remedy->in_graph = true;
    result_.graph.remedy = std::move(all);
    result_.framework = framework.Build();
  }

  // Do the steps launch the same kernels one by one, with the same grids, in the same order? What
  // would break a capture?
  void Sequence() {
    const Steps& steps = run_.steps;
    if (!steps.known()) return;
    std::uint32_t busiest = kNone;
    for (const std::uint32_t d : run_.active_devices) {
      if (busiest == kNone || run_.ops_of_device[d].size() > run_.ops_of_device[busiest].size())
        busiest = d;
    }
    const std::vector<std::uint32_t>& ops = run_.ops_of_device[busiest];
    std::map<std::uint64_t, std::size_t> hashes;
    std::vector<double> lengths;
    std::size_t at = 0;
    for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i) {
      while (at < ops.size() && trace_.ops.start[ops[at]] < steps.all[i].start) ++at;
      Fnv1a hash;
      std::size_t length = 0;
      for (; at < ops.size() && trace_.ops.start[ops[at]] < steps.all[i].end; ++at) {
        const bool of_graph = trace_.ops.in_graph[ops[at]] != 0;
        if (trace_.ops.kind[ops[at]] != OpKind::kKernel || of_graph || run_.IsComm(ops[at]))
          continue;
        hash.Add(trace_.ops.detail[ops[at]]);
        ++length;
      }
      ++hashes[hash.value()];
      lengths.push_back(static_cast<double>(length));
    }
    std::size_t most = 0;
    for (const auto& [hash, count] : hashes) most = std::max(most, count);
    result_.sequence_length = Median(lengths);
    result_.sequence_same = static_cast<double>(most) / static_cast<double>(steps.steady_count());
    result_.sequence_breaks = PlacesThatBreak();
  }

  // Places between two kernels of a launching thread at which a call holds the host, per step, of
  // the process that has most. One such place is where a graph ends and the next begins: the token
  // is read, the result sent.
  double PlacesThatBreak() const {
    std::map<std::uint32_t, StepCounter> of_process;
    for (const std::uint32_t thread : run_.launching_threads) {
      StepCounter& places =
          of_process.try_emplace(trace_.threads[thread].process, run_).first->second;
      bool launched = false;  // a kernel, since the last such place
      for (const std::uint32_t c : run_.calls_of_thread[thread]) {
        if (!basis_.InWindow(trace_.calls.start[c])) continue;
        if (launched && BlocksHost(run_, c)) places.Count(trace_.calls.start[c]), launched = false;
        if (IsLaunch(c)) launched = true;
      }
    }
    double most = 1;
    for (const auto& [process, places] : of_process) most = std::max(most, places.PerStep());
    return most - 1;
  }

  void Slow() {
    LossBuilder loss(basis_);
    const double usual = Number("launch.usual_call");
    const double slow = Number("launch.slow_call");
    result_.threads = CountThreads();
    if (result_.call_median_ns >= slow) {
      result_.slow_median_ns = result_.call_median_ns;
      std::size_t contended = 0;
      std::size_t all = 0;
      for (const std::uint32_t thread : run_.launching_threads) {
        IntervalSet beyond;
        for (const std::uint32_t c : run_.calls_of_thread[thread]) {
          if (!QueuesWork(c) || !basis_.InWindow(trace_.calls.start[c])) continue;
          // What makes launches slow makes every call slow that puts work into a queue.
          beyond.Append(trace_.calls.start[c] + static_cast<Nanos>(usual), trace_.calls.end[c]);
          if (!IsLaunch(c)) continue;
          loss.Count(trace_.calls.start[c], 0, CallLength(c));
          ++all;
          if (OverlapsOtherCall(c)) ++contended;
        }
        loss.remedy().host_cuts.push_back({thread, std::move(beyond)});
      }
      result_.slow_contended =
          all == 0 ? 0 : static_cast<double>(contended) / static_cast<double>(all);
      for (const GapPiece piece : basis_.idle.pieces) {
        const std::uint32_t next = basis_.idle.gaps[piece.gap].op;
        if (next != kNone && InsideGraph(next)) continue;
        if (piece.cause == IdleCause::kLaunch) loss.AddPiece(piece);
      }
      // Behind calls beside the GPU's work, the thread comes late to what it does next.
      const double held = Number("replay.held_factor") * result_.call_median_ns;
      ForEachDelay(
          basis_,
          [&](std::uint32_t, const HostPiece& piece) {
            const auto length = static_cast<double>(piece.end - piece.start);
            return piece.activity == Activity::kLaunch && length > usual && length < held;
          },
          [&](const Delay& delay) {
            loss.AddSpan(delay.device, delay.idle.start, delay.idle.end);
          });
    }
    result_.slow = loss.Build();
  }

  // Threads of one process that make launching calls in the window.
  std::size_t CountThreads() const {
    std::map<std::uint32_t, std::size_t> per_process;
    std::size_t most = 0;
    for (const std::uint32_t thread : run_.launching_threads) {
      most = std::max(most, ++per_process[trace_.threads[thread].process]);
    }
    return most;
  }

  bool OverlapsOtherCall(std::uint32_t call) const {
    const std::uint32_t process = run_.ProcessOfCall(call);
    for (const std::uint32_t other : run_.launching_threads) {
      if (other == trace_.calls.thread[call] || trace_.threads[other].process != process) continue;
      const RowRange rows = run_.calls_of_thread[other];
      const auto first = trace_.calls.start.begin() + rows.first;
      const auto last = trace_.calls.start.begin() + rows.last;
      const auto after = std::lower_bound(first, last, trace_.calls.end[call]);
      if (after == first) continue;
      const auto row = static_cast<std::size_t>(std::prev(after) - trace_.calls.start.begin());
      if (trace_.calls.end[row] > trace_.calls.start[call]) return true;
    }
    return false;
  }

  // Tiny device copies and memsets back to back on one stream.
  void Trains() {
    const double small_bytes = Number("copy.small_bytes");
    const auto least = CountOf("launch.train_length");
    LossBuilder loss(basis_);
    StepCounter ops_in_trains(run_);
    std::vector<std::vector<std::uint32_t>> open(trace_.streams.size());
    const auto close = [&](std::vector<std::uint32_t>* train) {
      if (train->size() >= least) {
        loss.Count(trace_.ops.start[train->front()], 0, 0);
        loss.AddSpan(trace_.ops.device[train->front()], trace_.ops.start[train->front()],
                     trace_.ops.end[train->back()]);
        for (std::size_t i = 0; i < train->size(); ++i) {
          const std::uint32_t op = (*train)[i];
          ops_in_trains.Count(trace_.ops.start[op]);
          if (i == 0) continue;
          loss.ScaleOp(op, 0);
          loss.RemoveCallOf(op);
        }
      }
      train->clear();
    };
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.stream[op] == kNone) continue;
      const std::uint32_t detail = trace_.ops.detail[op];
      const bool device_copy = trace_.ops.kind[op] == OpKind::kCopy &&
                               trace_.copies.direction[detail] == CopyDirection::kDeviceToDevice &&
                               static_cast<double>(trace_.copies.bytes[detail]) <= small_bytes;
      const bool memset = trace_.ops.kind[op] == OpKind::kMemset &&
                          static_cast<double>(trace_.memsets.bytes[detail]) <= small_bytes;
      std::vector<std::uint32_t>& train = open[trace_.ops.stream[op]];
      if ((device_copy || memset) && trace_.ops.in_graph[op] == 0) {
        train.push_back(op);
      } else {
        close(&train);
      }
    }
    for (std::vector<std::uint32_t>& train : open) close(&train);
    result_.trains_ops_per_step = ops_in_trains.PerStep();
    result_.trains = loss.Build();
  }

  void Waits() {
    AwaitedKernels awaited = FindAwaitedKernels(basis_);
    result_.waiting = std::move(awaited.loss);
    result_.waiting_share = awaited.share;
    result_.waiting_alone_ns = awaited.alone_ns;
  }

  Nanos long_gap_ns_;
  Nanos tiny_ns_;
  Nanos longest_spacing_;  // between two kernels in the queue
  double graph_spacing_;   // of that: between two nodes of a graph
  Nanos latency_ = 0;      // from the end of a launching call to its op on an idle device
  std::vector<std::uint8_t> came_late_;  // by call
  std::vector<Nanos> long_pauses_;
  Launches result_;
};

}  // namespace

Launches FindLaunches(const Basis& basis) { return LaunchFinder(basis).Find(); }

}  // namespace advise
