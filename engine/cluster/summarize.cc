#include "engine/cluster/summarize.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <unordered_map>
#include <utility>

#include "engine/base/hash.h"
#include "engine/cluster/identity.h"
#include "engine/timeline/collective_kind.h"

namespace advise {
namespace {

// `loading`: of the device, of LoadingBesideCommunication; `copying`: the same of its copies.
RankTime TimeOf(const Analysis& analysis, const IntervalSet& loading, const IntervalSet& copying,
                std::uint32_t d, Nanos start, Nanos end) {
  const DeviceTime& times = analysis.times[d];
  RankTime time;
  time.compute = times.compute.OverlapWith(start, end);
  time.comm_exposed = times.comm_exposed.OverlapWith(start, end);
  time.copy_exposed = times.copy_exposed.OverlapWith(start, end);
  time.memset_exposed = times.memset_exposed.OverlapWith(start, end);
  time.idle = times.idle.OverlapWith(start, end);
  time.loading_beside_comm = loading.OverlapWith(start, end);
  time.copying_beside_comm = copying.OverlapWith(start, end);
  const GapPieces& pieces = analysis.idle.pieces;
  for (std::size_t i = pieces.FirstEndingAfter(d, start); i < pieces.size(); ++i) {
    const GapPiece piece = pieces[i];
    if (piece.device != d || piece.start >= end) break;
    const Nanos length = std::min(end, piece.end) - std::max(start, piece.start);
    time.causes[static_cast<std::size_t>(piece.cause)] += length;
    if (piece.cause == IdleCause::kFileIo && piece.activity == Activity::kFileWrite)
      time.writing += length;
  }
  const Window& window = analysis.run.window;
  if (start == window.start && end == window.end) time.causes = analysis.idle.by_device[d];
  return time;
}

// A launch that takes this long waits for room in the queue, not for the host; a call that asks for
// memory or gives it back, perhaps for the GPU.
bool Works(const GapPiece& piece, Nanos slow_call) {
  switch (piece.cause) {
    case IdleCause::kLaunch:
    case IdleCause::kAllocation:
      return piece.Length() < slow_call;
    case IdleCause::kDataLoading:
    case IdleCause::kJitOrModuleLoad:
    case IdleCause::kFileIo:
    case IdleCause::kHostCompute:
    case IdleCause::kProfilerOverhead:
      return true;
    case IdleCause::kHostWait:  // for threads of its own process, or for time to pass
      return piece.activity == Activity::kLock || piece.activity == Activity::kSleep;
    default:
      return false;
  }
}

// An exchange that ranges or kernels name, by code of the host.
bool Exchanges(const GapPiece& piece) {
  return piece.cause == IdleCause::kPeerWait && piece.activity == Activity::kCode;
}

// What hosts do in the window, by device that communicates.
struct HostsOfDevices {
  std::vector<IntervalSet> at_work;  // they work, and do not wait
  std::vector<IntervalSet> in_exchanges;
};

HostsOfDevices FindHosts(const Analysis& analysis) {
  const Run& run = analysis.run;
  std::vector<IntervalSet> window(analysis.times.size());
  for (std::size_t d = 0; d < window.size(); ++d) {
    if (analysis.times[d].comm_exposed.empty()) continue;
    window[d].Append(run.window.start, run.window.end);
  }
  // Unless all of its launches take so long.
  const auto slow = static_cast<Nanos>(
      std::max(run.knowledge.Number("launch.slow_call"), 2 * analysis.launches.call_median_ns));
  const Idle followed = FollowHosts(run, window, analysis.hand_overs);
  std::vector<IntervalSet> at_work =
      followed.Select(window.size(), [&](const GapPiece& piece) { return Works(piece, slow); });
  const std::vector<IntervalSet> allocating =
      followed.Select(window.size(), [&](const GapPiece& piece) {
        return piece.cause == IdleCause::kAllocation && piece.Length() >= slow;
      });
  for (std::size_t d = 0; d < window.size(); ++d)
    at_work[d] = at_work[d].Union(allocating[d].Intersect(analysis.times[d].idle));
  return {std::move(at_work), followed.Select(window.size(), Exchanges)};
}

// By device: when it copies to or from the host beside communication that no compute hides.
std::vector<IntervalSet> CopyingBesideCommunication(const Analysis& analysis) {
  const Trace& trace = analysis.run.trace;
  std::vector<std::vector<Interval>> copies(analysis.times.size());
  for (std::uint32_t op = 0; op < trace.ops.size(); ++op) {
    if (trace.ops.kind[op] != OpKind::kCopy) continue;
    const CopyDirection direction = trace.DirectionOfCopy(op);
    if (direction != CopyDirection::kHostToDevice && direction != CopyDirection::kDeviceToHost)
      continue;
    copies[trace.ops.device[op]].push_back({trace.ops.start[op], trace.ops.end[op]});
  }
  std::vector<IntervalSet> beside;
  for (std::size_t d = 0; d < copies.size(); ++d)
    beside.push_back(
        IntervalSet::Of(std::move(copies[d])).Intersect(analysis.times[d].comm_exposed));
  return beside;
}

// How long the end of a kernel runs without compute beside it.
Nanos BareEnd(const IntervalSet& bare, Nanos start, Nanos end) {
  const IntervalSet beside = bare.GapsWithin(start, end);
  return beside.empty() ? end - start : end - beside.intervals().back().end;
}

class Summarizer {
 public:
  explicit Summarizer(const Analysis& analysis)
      : analysis_(analysis),
        run_(analysis.run),
        trace_(analysis.run.trace),
        row_of_op_(RowsOfCollectives(trace_)),
        hosts_(FindHosts(analysis)),
        copying_beside_comm_(CopyingBesideCommunication(analysis)) {}

  std::vector<RankSummary> All() {
    std::vector<RankSummary> ranks;
    for (const std::uint32_t device : run_.active_devices) ranks.push_back(Of(device));
    IdentifyRanks(trace_, run_.knowledge, &ranks);
    return ranks;
  }

 private:
  RankSummary Of(std::uint32_t d) {
    RankSummary rank = IdentityOf(trace_, d, ProcessOf(d));
    rank.window_start = run_.window.start;
    rank.window_end = run_.window.end;
    rank.time = TimeInWindow(analysis_, d);
    rank.unseen = analysis_.unseen.by_device[d];
    rank.time.loading_beside_comm =
        analysis_.loading_beside_comm[d].OverlapWith(rank.window_start, rank.window_end);
    rank.time.copying_beside_comm =
        copying_beside_comm_[d].OverlapWith(rank.window_start, rank.window_end);
    rank.steps_source = run_.steps.source;
    rank.keeps_waits = analysis_.keeps_waits;
    if (run_.steps.known()) {
      for (std::size_t i = run_.steps.first_steady; i < run_.steps.all.size(); ++i) {
        const Step& step = run_.steps.all[i];
        if (step.start < run_.window.start || step.end > run_.window.end) continue;
        rank.steps.push_back({step.start, step.end,
                              TimeOf(analysis_, analysis_.loading_beside_comm[d],
                                     copying_beside_comm_[d], d, step.start, step.end)});
        if (hosts_.at_work[d].empty()) continue;
        rank.host_works.push_back(hosts_.at_work[d].OverlapWith(step.start, step.end));
        rank.host_exchanges.push_back(hosts_.in_exchanges[d].OverlapWith(step.start, step.end));
      }
    }
    rank.launch_call = static_cast<Nanos>(analysis_.launches.call_median_ns);
    if (run_.active_devices.size() == 1)  // else of all of them together
      rank.before_uploads = analysis_.host_code->before_uploads_ns;
    rank.backwards = analysis_.accumulation.backwards;
    rank.backwards_synced = analysis_.accumulation.synced;
    rank.memory_peak = analysis_.host.memory_peak;
    const double installed = trace_.devices[d].memory_bytes;
    rank.memory_capacity = installed > 0 ? installed : analysis_.hardware.memory_bytes;
    rank.supports_verdict = analysis_.support.verdict;
    rank.work_print = PrintOfWork(d);
    Kernels(d, &rank);
    Copies(d, &rank);
    rank.wrote_files = rank.time.writing;
    rank.queued_sums = analysis_.comm.queued.lost->by_device[d].Total();
    Collectives(d, &rank);
    Messages(d, &rank);
    return rank;
  }

  // Of when the first kernels of the whole trace ran, whatever its window; 0 for too few.
  std::uint64_t PrintOfWork(std::uint32_t d) const {
    constexpr std::size_t kFewest = 16;
    constexpr std::size_t kMost = 1024;
    Fnv1a print;
    std::size_t kernels = 0;
    Nanos first = 0;
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      if (kernels++ == 0) first = trace_.ops.start[op];
      for (const Nanos time : {trace_.ops.start[op] - first, trace_.ops.end[op] - first})
        print.Add(static_cast<std::uint64_t>(time));
      if (kernels == kMost) break;
    }
    return kernels < kFewest ? 0 : print.value();
  }

  // The process with most ops on the device.
  std::uint32_t ProcessOf(std::uint32_t d) const {
    std::map<std::uint32_t, std::size_t> ops;
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      const std::uint32_t stream = trace_.ops.stream[op];
      if (stream != kNone && trace_.streams[stream].process != kNone) {
        ++ops[trace_.streams[stream].process];
      }
    }
    std::uint32_t most = kNone;
    for (const auto& [process, count] : ops) {
      if (most == kNone || count > ops[most]) most = process;
    }
    return most;
  }

  // By name: counted first, then collected side by side, so that the lengths need no more memory
  // than themselves.
  void Kernels(std::uint32_t d, RankSummary* rank) const {
    std::vector<std::size_t> next(trace_.strings.size() + 1, 0);  // where a name's next length goes
    const auto for_each = [&](auto visit) {
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op)) continue;
        if (run_.InWindow(trace_.ops.start[op]))
          visit(op, trace_.shapes[trace_.ops.detail[op]].name);
      }
    };
    for_each([&](std::uint32_t, StringId name) { ++next[name + 1]; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<Nanos> lengths(next.back());
    std::map<std::string, double> blocks;
    for_each([&](std::uint32_t op, StringId name) {
      lengths[next[name]++] = trace_.ops.end[op] - trace_.ops.start[op];
      const auto of_launch = static_cast<double>(trace_.shapes[trace_.ops.detail[op]].Blocks());
      rank->blocks += of_launch;
      blocks[trace_.strings[name]] += of_launch;
    });
    rank->kernels_count += static_cast<std::int64_t>(lengths.size());
    rank->traits = Traits(d);
    for (const std::string& language : analysis_.kind.languages)
      rank->languages += (rank->languages.empty() ? "" : ", ") + language;
    std::size_t first = 0;
    for (StringId name = 0; name < trace_.strings.size(); ++name) {
      const std::span<Nanos> of_name = std::span(lengths).subspan(first, next[name] - first);
      first = next[name];
      if (of_name.empty()) continue;
      RankKernel kernel;
      kernel.name = trace_.strings[name];
      kernel.count = static_cast<std::int64_t>(of_name.size());
      for (const Nanos length : of_name) kernel.total += length;
      kernel.median = MedianInPlace(of_name);
      rank->kernels.push_back(std::move(kernel));
    }
    std::stable_sort(rank->kernels.begin(), rank->kernels.end(),
                     [](const RankKernel& a, const RankKernel& b) {
                       return a.total != b.total ? a.total > b.total : a.name < b.name;
                     });
    const auto most = run_.knowledge.CountOf("cluster.kernels_kept");
    if (rank->kernels.size() > most) rank->kernels.resize(most);
    for (const RankKernel& kernel : rank->kernels)
      rank->kernel_blocks.push_back(blocks[kernel.name] / static_cast<double>(kernel.count));
  }

  void Copies(std::uint32_t d, RankSummary* rank) const {
    const double least = run_.knowledge.Number("rank.link_copy");
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (trace_.ops.kind[op] != OpKind::kCopy || !run_.InWindow(trace_.ops.start[op])) continue;
      const std::uint32_t copy = trace_.ops.detail[op];
      const CopyDirection direction = trace_.copies.direction[copy];
      const auto bytes = static_cast<double>(trace_.copies.bytes[copy]);
      if (bytes < least ||
          (direction != CopyDirection::kHostToDevice && direction != CopyDirection::kDeviceToHost))
        continue;
      rank->copied_bytes += bytes;
      rank->copied_time += trace_.ops.end[op] - trace_.ops.start[op];
    }
  }

  // Whether most of the time of products is in those of a few rows: then ranks exchange as few.
  bool MultipliesFewRows(std::uint32_t d) const {
    std::vector<std::int8_t> few(trace_.shapes.size(), -1);  // 1: a product of few rows
    Nanos of_few = 0;
    Nanos all = 0;
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (trace_.ops.kind[op] != OpKind::kKernel || !run_.InWindow(trace_.ops.start[op])) continue;
      const std::uint32_t shape = trace_.ops.detail[op];
      const KernelClass& known = run_.names.Kernel(shape);
      if (known.name != "matrix") continue;
      if (few[shape] < 0)
        few[shape] =
            run_.knowledge.IsOfFamily(FamilyKind::kKernel, "few_rows",
                                      trace_.strings[trace_.shapes[shape].name], known.name)
                ? 1
                : 0;
      const Nanos length = trace_.ops.end[op] - trace_.ops.start[op];
      all += length;
      if (few[shape] == 1) of_few += length;
    }
    return static_cast<double>(of_few) >
           run_.knowledge.Number("cluster.few_rows") * static_cast<double>(all);
  }

  // What a program is made of, as far as it says what ranks exchange.
  std::vector<std::string> Traits(std::uint32_t d) const {
    std::vector<std::uint8_t> used(trace_.shapes.size(), 0);
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (trace_.ops.kind[op] == OpKind::kKernel) used[trace_.ops.detail[op]] = 1;
    }
    std::set<std::string> traits;
    if (analysis_.kind.kind == KindOfRun::kInference) traits.insert("inference");
    if (analysis_.kind.decode && !analysis_.kind.trains) traits.insert("tokens");
    if (!analysis_.kind.trains && MultipliesFewRows(d)) traits.insert("few-rows");
    for (std::uint32_t shape = 0; shape < used.size(); ++shape) {
      if (used[shape] == 0) continue;
      const KernelClass& known = run_.names.Kernel(shape);
      if (known.HasTrait("one-kernel-all-reduce")) traits.insert("one-kernel-all-reduce");
      if (run_.names.IsCommunication(shape)) continue;
      if (known.name == "attention" || known.name == "embedding") traits.insert(known.name);
      if (run_.knowledge.IsOfFamily(FamilyKind::kKernel, "moe_routing",
                                    trace_.strings[trace_.shapes[shape].name], known.name)) {
        traits.insert("moe_routing");
      }
    }
    if (SaysAllToAll()) traits.insert("all_to_all");
    return {traits.begin(), traits.end()};
  }

  // NCCL makes an all-to-all of sends: only ranges of the program or its libraries name it.
  bool SaysAllToAll() const {
    std::unordered_map<StringId, bool> of_name;
    for (const StringId name : trace_.ranges.name) {
      const auto [at, is_new] = of_name.try_emplace(name, false);
      if (is_new)
        at->second =
            run_.knowledge.IsOfFamily(FamilyKind::kRange, "all_to_all", trace_.strings[name]);
      if (at->second) return true;
    }
    return false;
  }

  void Collectives(std::uint32_t d, RankSummary* rank) {
    RankCollectives& list = rank->collectives;
    std::map<std::string, std::uint8_t> kinds;
    std::map<std::uint32_t, std::uint16_t> lanes;
    std::map<std::uint32_t, std::int16_t> groups;
    for (const std::uint32_t op : run_.ops_of_device[d]) {
      if (!run_.IsComm(op)) continue;
      const Nanos start = trace_.ops.start[op];
      const Nanos end = trace_.ops.end[op];
      if (end <= run_.window.start || start >= run_.window.end) continue;
      const std::uint32_t row = row_of_op_.empty() ? kNone : row_of_op_[op];
      std::string kind = KindOfCollective(run_, op, row);
      std::int64_t bytes = -1;
      std::int32_t peer = -1;
      std::int16_t group = -1;
      if (row != kNone) {
        const CollectiveTable& table = trace_.collectives;
        bytes = std::max(table.in_bytes[row], table.out_bytes[row]);
        peer = table.peer[row];
        if (table.group[row] != kNone) {
          const auto [at, added] =
              groups.try_emplace(table.group[row], static_cast<std::int16_t>(rank->groups.size()));
          if (added) rank->groups.push_back(trace_.groups[table.group[row]]);
          group = at->second;
        }
      }
      const auto [kind_at, kind_added] =
          kinds.try_emplace(kind, static_cast<std::uint8_t>(rank->kinds.size()));
      if (kind_added) rank->kinds.push_back(kind);
      const auto lane =
          lanes.try_emplace(trace_.ops.stream[op], static_cast<std::uint16_t>(lanes.size()));
      list.start.push_back(start);
      list.end.push_back(end);
      list.exposed.push_back(analysis_.times[d].comm_exposed.OverlapWith(start, end));
      list.bare_end.push_back(
          kind == "sendrecv" ? BareEnd(analysis_.times[d].comm_exposed, start, end) : -1);
      list.kind.push_back(kind_at->second);
      list.phase.push_back(static_cast<std::uint8_t>(analysis_.phases.OfOp(run_, op)));
      list.lane.push_back(lane.first->second);
      list.group.push_back(group);
      list.bytes.push_back(bytes);
      list.peer.push_back(peer);
    }
  }

  void Messages(std::uint32_t d, RankSummary* rank) const {
    const auto lost = [&](const Loss& loss) {
      return d < loss.lost->by_device.size() ? loss.lost->by_device[d] : IntervalSet();
    };
    const IntervalSet late = lost(analysis_.mpi.late).Union(lost(analysis_.mpi.uneven));
    const IntervalSet idle = late.Union(lost(analysis_.mpi.transfer));
    if (idle.empty()) return;
    const MpiTable& mpi = trace_.mpi;
    for (const std::uint32_t thread : run_.launching_threads) {
      for (const std::uint32_t row : run_.mpi_of_thread[thread]) {
        if (!MovesData(mpi.kind[row]) || idle.OverlapWith(mpi.start[row], mpi.end[row]) == 0)
          continue;
        rank->messages.push_back(
            {mpi.start[row], mpi.end[row], late.OverlapWith(mpi.start[row], mpi.end[row])});
      }
    }
    std::sort(rank->messages.begin(), rank->messages.end(),
              [](const RankMessage& a, const RankMessage& b) { return a.start < b.start; });
  }

  const Analysis& analysis_;
  const Run& run_;
  const Trace& trace_;
  const std::vector<std::uint32_t> row_of_op_;  // see RowsOfCollectives
  const HostsOfDevices hosts_;
  const std::vector<IntervalSet> copying_beside_comm_;  // by device
};

}  // namespace

RankTime TimeInWindow(const Analysis& analysis, std::uint32_t device) {
  return TimeOf(analysis, {}, {}, device, analysis.run.window.start, analysis.run.window.end);
}

std::vector<RankSummary> SummarizeRanks(const Analysis& analysis) {
  return Summarizer(analysis).All();
}

}  // namespace advise
