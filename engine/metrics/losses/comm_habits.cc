#include "engine/metrics/losses/comm_habits.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

namespace advise {
namespace {

class HabitFinder {
 public:
  HabitFinder(const Basis& basis, const Phases& phases)
      : basis_(basis), run_(basis.run), trace_(basis.run.trace), phases_(phases) {}

  CommHabits Find() {
    MicroSteps();
    Replicate();
    Contention();
    return std::move(result_);
  }

 private:
  bool IsGradient(std::uint32_t op) const {
    if (!run_.IsComm(op)) return false;
    const std::string& kind = run_.names.Kernel(trace_.ops.detail[op]).collective;
    return kind == "allreduce" || kind == "reducescatter" || kind == "reduce";
  }
  Nanos Length(std::uint32_t op) const { return trace_.ops.end[op] - trace_.ops.start[op]; }

  void MicroSteps() {
    LossBuilder early(basis_);
    std::vector<double> backwards;
    std::vector<double> synced;
    std::vector<double> optimizers;
    std::set<std::uint32_t> processes;
    for (const std::uint32_t thread : run_.launching_threads) {
      processes.insert(trace_.threads[thread].process);
    }
    if (run_.steps.known() && phases_.known(Phase::kBackward)) {
      // Gradient collectives by process, in order of their launch.
      std::map<std::uint32_t, std::vector<std::pair<Nanos, std::uint32_t>>> sent;
      for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
        const std::uint32_t call = trace_.ops.call[op];
        if (call == kNone || !IsGradient(op)) continue;
        sent[run_.ProcessOfCall(call)].emplace_back(trace_.calls.start[call], op);
      }
      for (const std::uint32_t process : processes) {
        std::vector<std::pair<Nanos, std::uint32_t>>& launched = sent[process];
        std::sort(launched.begin(), launched.end());
        for (std::size_t i = run_.steps.first_steady; i < run_.steps.all.size(); ++i) {
          const Step& step = run_.steps.all[i];
          if (!basis_.InWindow(step.start)) continue;
          OneStep(process, step, launched, &early, &backwards, &synced, &optimizers);
        }
      }
    }
    result_.backwards = Median(std::move(backwards));
    result_.synced = Median(std::move(synced));
    result_.optimizers = Median(std::move(optimizers));
    result_.early = early.Build();
  }

  void OneStep(std::uint32_t process, const Step& step,
               const std::vector<std::pair<Nanos, std::uint32_t>>& launched, LossBuilder* early,
               std::vector<double>* backwards, std::vector<double>* synced,
               std::vector<double>* optimizers) const {
    const std::span<const Interval> passes =
        phases_.Of(process, Phase::kBackward).StartingIn(step.start, step.end);
    const std::size_t updates =
        phases_.Of(process, Phase::kOptimizer).StartingIn(step.start, step.end).size();
    double with = 0;
    for (std::size_t p = 0; p < passes.size(); ++p) {
      auto at = std::lower_bound(launched.begin(), launched.end(),
                                 std::pair<Nanos, std::uint32_t>{passes[p].start, 0});
      bool any = false;
      for (; at != launched.end() && at->first < passes[p].end; ++at) {
        any = true;
        if (p + 1 == passes.size()) break;
        early->Count(at->first, 0, Length(at->second));
        early->AddExposed(at->second);
        early->remedy().scaled_ops.emplace_back(at->second, 0.0F);
      }
      with += any ? 1 : 0;
    }
    backwards->push_back(static_cast<double>(passes.size()));
    synced->push_back(with);
    optimizers->push_back(static_cast<double>(updates));
  }

  void Replicate() {
    LossBuilder loss(basis_);
    std::map<std::uint32_t, std::set<std::uint32_t>> devices;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t stream = trace_.ops.stream[op];
      if (stream == kNone || trace_.ops.kind[op] != OpKind::kKernel) continue;
      devices[trace_.streams[stream].process].insert(trace_.ops.device[op]);
    }
    std::uint32_t process = kNone;
    for (const auto& [one, used] : devices) {
      if (one == kNone || used.size() <= result_.shared_devices) continue;
      result_.shared_devices = used.size();
      process = one;
    }
    std::vector<Nanos> broadcasts;
    std::vector<Nanos> reduces;
    for (std::uint32_t op = 0; op < trace_.ops.size() && result_.shared_devices > 1; ++op) {
      const std::uint32_t stream = trace_.ops.stream[op];
      if (stream == kNone || trace_.streams[stream].process != process) continue;
      if (!basis_.InWindow(trace_.ops.start[op])) continue;
      const bool peer =
          trace_.ops.kind[op] == OpKind::kCopy &&
          trace_.copies.direction[trace_.ops.detail[op]] == CopyDirection::kPeerToPeer;
      std::string kind;
      if (run_.IsComm(op)) kind = run_.names.Kernel(trace_.ops.detail[op]).collective;
      if (kind == "broadcast") broadcasts.push_back(trace_.ops.start[op]);
      if (kind == "reduce") reduces.push_back(trace_.ops.start[op]);
      if (!peer && kind != "broadcast" && kind != "reduce") continue;
      loss.Count(trace_.ops.start[op], 0, Length(op));
      loss.AddExposed(op);
      loss.remedy().scaled_ops.emplace_back(op, 0.0F);
    }
    const auto each = static_cast<double>(std::max<std::size_t>(1, result_.shared_devices));
    result_.broadcasts = broadcasts.empty() ? 0 : PerStep(run_, broadcasts) / each;
    result_.reduces = reduces.empty() ? 0 : PerStep(run_, reduces) / each;
    result_.replicate = loss.Build();
  }

  // What a kernel that took `length` beside a collective takes alone, if it is one of those that
  // were seen alone (in ascending order): a name with one grid and block may stand for several
  // amounts of work, and the longest that is not longer is the one that says least against the
  // collective. A few stragglers among them say nothing.
  static Nanos TimeAlone(const std::vector<Nanos>& alone, Nanos length) {
    const std::size_t usual = alone.size() - alone.size() / 50;
    const auto last = alone.begin() + static_cast<std::ptrdiff_t>(usual);
    const auto above = std::upper_bound(alone.begin(), last, length);
    return above == alone.begin() ? length : *std::prev(above);
  }

  // Kernels of the same name, grid and block with and without a collective beside them.
  void Contention() {
    LossBuilder loss(basis_);
    const auto least = static_cast<std::size_t>(run_.knowledge.Number("comm.compared_least"));
    double beside_ns = 0;
    double alone_ns = 0;
    for (const std::uint32_t d : run_.active_devices) {
      if (basis_.times[d].comm.empty()) continue;
      struct Seen {
        std::vector<Nanos> alone;
        std::vector<std::uint32_t> beside;
      };
      std::map<std::uint32_t, Seen> shapes;
      for (const std::uint32_t op : run_.ops_of_device[d]) {
        if (trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op)) continue;
        if (!basis_.InWindow(trace_.ops.start[op])) continue;
        const Nanos overlap =
            basis_.times[d].comm.OverlapWith(trace_.ops.start[op], trace_.ops.end[op]);
        Seen& seen = shapes[trace_.ops.detail[op]];
        if (overlap == 0) {
          seen.alone.push_back(Length(op));
        } else if (10 * overlap >= 9 * Length(op)) {
          seen.beside.push_back(op);
        }
      }
      for (auto& [shape, seen] : shapes) {
        if (seen.alone.size() < least || seen.beside.size() < least) continue;
        std::sort(seen.alone.begin(), seen.alone.end());
        std::vector<Nanos> lengths;
        for (const std::uint32_t op : seen.beside) lengths.push_back(Length(op));
        std::sort(lengths.begin(), lengths.end());
        const Nanos usual = lengths[lengths.size() - 1 - lengths.size() / 50];
        result_.compared += static_cast<double>(lengths.size());
        for (const std::uint32_t op : seen.beside) {
          const Nanos length = std::min(usual, Length(op));
          const Nanos alone = TimeAlone(seen.alone, length);
          beside_ns += static_cast<double>(length);
          alone_ns += static_cast<double>(alone);
          const Nanos excess = length - alone;
          if (excess <= 0) continue;
          loss.Count(trace_.ops.start[op], 0, excess);
          loss.AddSpan(d, trace_.ops.end[op] - excess, trace_.ops.end[op]);
          loss.remedy().scaled_ops.emplace_back(
              op, static_cast<float>(Length(op) - excess) / static_cast<float>(Length(op)));
        }
      }
    }
    if (alone_ns > 0) result_.slowdown = beside_ns / alone_ns;
    result_.contention = loss.Build();
  }

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  CommHabits result_;
};

}  // namespace

CommHabits FindCommHabits(const Basis& basis, const Phases& phases) {
  return HabitFinder(basis, phases).Find();
}

}  // namespace advise
