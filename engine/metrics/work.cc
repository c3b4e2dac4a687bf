#include "engine/metrics/work.h"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "engine/base/glob.h"
#include "engine/base/is_in.h"

namespace advise {
namespace {

class WorkFinder : Finder {
 public:
  WorkFinder(const Basis& basis, const Phases& phases) : Finder(basis), phases_(phases) {}

  Work Find() {
    Steps();
    Kernels();
    Uploads();
    LaunchingThread();
    PhaseTimes();
    Coverage();
    Cards();
    Links();
    return std::move(work_);
  }

 private:
  void Steps() {
    const auto& steps = run_.steps;
    for (std::size_t i = steps.first_steady; i < steps.all.size(); ++i) {
      const Step& step = steps.all[i];
      if (!basis_.InWindow(step.start + step.Length() / 2)) continue;
      work_.steps.push_back({i, step.Length(), steps.IsOutlier(i)});
    }
  }

  // Gathered by shape first: shapes are few, names are long.
  void Kernels() {
    struct Sum {
      std::int64_t count = 0;
      double time = 0;
      double hidden = 0;
    };
    std::vector<Sum> sums(trace_.shapes.size());
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kKernel) continue;
      Sum& sum = sums[trace_.ops.detail[op]];
      const Nanos start = trace_.ops.start[op];
      const Nanos end = trace_.ops.end[op];
      sum.count += 1;
      sum.time += static_cast<double>(end - start);
      if (run_.IsComm(op)) {
        const DeviceTime& time = basis_.times[trace_.ops.device[op]];
        sum.hidden += static_cast<double>(time.compute.OverlapWith(start, end));
      }
    }
    std::map<std::tuple<std::string, double, double>, KernelWork> rows;
    std::map<std::string, CollectiveWork> kinds;
    for (std::uint32_t s = 0; s < sums.size(); ++s) {
      if (sums[s].count == 0) continue;
      const KernelShape& shape = trace_.shapes[s];
      const KernelClass& known = run_.names.Kernel(s);
      if (run_.names.IsCommunication(s)) {
        CollectiveWork& kind = kinds[known.collective.empty() ? "unnamed" : known.collective];
        kind.count += sums[s].count;
        kind.time_ns += sums[s].time;
        kind.hidden_ns += sums[s].hidden;
        continue;
      }
      const std::string name(trace_.strings[shape.name]);
      const auto blocks = static_cast<double>(shape.Blocks());
      const auto threads = static_cast<double>(shape.ThreadsPerBlock());
      KernelWork& row = rows[{name, blocks, threads}];
      row.name = name;
      row.kernel_class = known.name;
      row.precision = known.precision;
      row.tensor_core = known.tensor_core;
      row.blocks = blocks;
      row.threads = threads;
      row.count += sums[s].count;
      row.time_ns += sums[s].time;
    }
    for (auto& [key, row] : rows) work_.kernels.push_back(std::move(row));
    std::stable_sort(
        work_.kernels.begin(), work_.kernels.end(),
        [](const KernelWork& a, const KernelWork& b) { return a.time_ns > b.time_ns; });
    for (auto& [kind, row] : kinds) {
      row.kind = kind;
      work_.collectives.push_back(row);
    }
  }

  void Uploads() {
    std::map<std::int64_t, std::int64_t> sizes;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.kind[op] != OpKind::kCopy) continue;
      const std::uint32_t copy = trace_.ops.detail[op];
      if (trace_.copies.direction[copy] != CopyDirection::kHostToDevice) continue;
      const auto bytes = static_cast<double>(trace_.copies.bytes[copy]);
      sizes[trace_.copies.bytes[copy]] += 1;
      work_.uploaded_bytes += bytes;
      if (trace_.copies.source[copy] == MemoryKind::kPageable) work_.pageable_bytes += bytes;
    }
    for (const auto& [bytes, count] : sizes) {
      work_.uploads.push_back({static_cast<double>(bytes), count});
    }
    std::stable_sort(
        work_.uploads.begin(), work_.uploads.end(), [](const UploadWork& a, const UploadWork& b) {
          return a.bytes * static_cast<double>(a.count) > b.bytes * static_cast<double>(b.count);
        });
  }

  void LaunchingThread() {
    std::vector<std::int64_t> launches(trace_.threads.size(), 0);
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call != kNone && basis_.InWindow(trace_.ops.start[op]))
        launches[trace_.calls.thread[call]] += 1;
    }
    std::int64_t most = 0;
    for (std::uint32_t thread = 0; thread < launches.size(); ++thread) {
      if (launches[thread] > most) most = launches[thread], work_.launching_thread = thread;
    }
  }

  // That in which the thread was whose code the GPU waited for. Ranges of another thread hold a
  // backward pass as well, which runs on a thread of autograd.
  Phase PhaseOf(const GapPiece& piece) const {
    if (piece.phase != Phase::kUnnamed) return piece.phase;
    const std::uint32_t thread = basis_.idle.ThreadOf(piece);
    const std::uint32_t process = thread == kNone ? kNone : trace_.threads[thread].process;
    if (process == kNone) return Phase::kUnnamed;
    const Nanos middle = piece.start + piece.Length() / 2;
    for (const Phase pass : {Phase::kBackward, Phase::kForward}) {
      if (phases_.Of(process, pass).Contains(middle)) return pass;
    }
    return Phase::kUnnamed;
  }

  void PhaseTimes() {
    std::map<Phase, PhaseWork> rows;
    std::map<Phase, std::int64_t> entered;
    std::vector<std::uint32_t> processes;
    for (const std::uint32_t t : run_.launching_threads) {
      const std::uint32_t process = trace_.threads[t].process;
      if (process != kNone && !IsIn(process, processes)) processes.push_back(process);
    }
    const auto per_process = static_cast<double>(std::max<std::size_t>(1, processes.size()));
    for (int p = 1; p <= static_cast<int>(Phase::kDataLoading); ++p) {
      const auto phase = static_cast<Phase>(p);
      if (!phases_.known(phase)) continue;
      PhaseWork& row = rows[phase];
      for (const std::uint32_t process : processes) {
        const IntervalSet open =
            phases_.Of(process, phase).Clip(run_.window.start, run_.window.end);
        row.host_ns += static_cast<double>(open.Total()) / per_process;
        entered[phase] += static_cast<std::int64_t>(open.intervals().size());
      }
    }
    if (rows.empty()) return;
    for (std::uint32_t i = 0; i < trace_.ranges.size(); ++i) {
      const Phase phase = run_.names.RangePhase(trace_.ranges.name[i]);
      if (phase == Phase::kUnnamed || !basis_.InWindow(trace_.ranges.start[i])) continue;
      rows[phase].count += 1;
    }
    // Passes that operators or threads tell have no ranges.
    for (const auto& [phase, times] : entered) {
      if (rows[phase].count == 0) rows[phase].count = times;
    }
    std::array<Nanos, static_cast<std::size_t>(Phase::kDataLoading) + 1> gpu = {};
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      gpu[static_cast<std::size_t>(phases_.OfOp(run_, op))] += Length(op);
    }
    for (std::size_t p = 0; p < gpu.size(); ++p) {
      if (gpu[p] > 0) rows[static_cast<Phase>(p)].gpu_ns = static_cast<double>(gpu[p]) / Devices();
    }
    for (const GapPiece piece : basis_.idle.pieces) {
      if (!IsIn(piece.device, run_.active_devices)) continue;  // nobody uses it
      rows[PhaseOf(piece)].idle_ns += static_cast<double>(piece.Length()) / Devices();
    }
    for (auto& [phase, row] : rows) {
      row.phase = phase;
      work_.phases.push_back(row);
    }
  }

  void Coverage() {
    double known = 0;
    double all = 0;
    for (const std::uint32_t op : basis_.OpsInWindow()) {
      if (trace_.ops.call[op] == kNone) continue;
      const auto length = static_cast<double>(Length(op));
      all += length;
      if (phases_.OfOp(run_, op) != Phase::kUnnamed) known += length;
    }
    work_.range_coverage = all > 0 ? known / all : 0;
  }

  // Rates when the card gives rates; else bytes of the window over its length.
  void Cards() {
    if (trace_.nic_series.empty() || run_.window.Length() <= 0) return;
    double rate = 0;
    bool any = false;
    const double seconds = static_cast<double>(run_.window.Length()) / kNanosPerSecond;
    for (const Series& series : trace_.nic_series) {
      if (!MatchesGlob(series.name, "*byte*")) continue;
      double sum = 0;
      double samples = 0;
      for (std::size_t i = 0; i < series.time.size(); ++i) {
        if (!basis_.InWindow(series.time[i])) continue;
        sum += series.value[i];
        samples += 1;
      }
      any = true;
      const bool is_rate = MatchesGlob(series.unit, "*/s*") || MatchesGlob(series.unit, "*per*");
      if (samples > 0) rate += is_rate ? sum / samples : sum / seconds;
    }
    if (any) work_.nic_bytes_per_s = rate;
  }

  void Links() {
    std::vector<IntervalSet> comm;
    for (const DeviceTime& time : basis_.times) comm.push_back(time.comm);
    double nvlink = 0, pcie = 0, nvlink_samples = 0, pcie_samples = 0;
    for (const Series& series : trace_.gpu_series) {
      if (series.device >= comm.size() || series.unit != "percent") continue;
      const std::string quantity = run_.knowledge.ValueIn(NameList::kGpuMetric, series.name);
      const bool is_nvlink = quantity.starts_with("nvlink_");
      const bool is_pcie = quantity.starts_with("pcie_");
      if (!is_nvlink && !is_pcie) continue;
      for (std::size_t i = 0; i < series.time.size(); ++i) {
        if (!comm[series.device].Contains(series.time[i])) continue;
        (is_nvlink ? nvlink : pcie) += series.value[i];
        (is_nvlink ? nvlink_samples : pcie_samples) += 1;
      }
    }
    if (nvlink_samples > 0) work_.nvlink_percent = nvlink / nvlink_samples;
    if (pcie_samples > 0) work_.pcie_percent = pcie / pcie_samples;
  }

  const Phases& phases_;
  Work work_;
};

}  // namespace

Work FindWork(const Basis& basis, const Phases& phases) { return WorkFinder(basis, phases).Find(); }

}  // namespace advise
