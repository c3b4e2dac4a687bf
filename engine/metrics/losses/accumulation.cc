#include "engine/metrics/losses/accumulation.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace advise {
namespace {

class AccumulationFinder {
 public:
  AccumulationFinder(const Basis& basis, const Phases& phases)
      : basis_(basis), run_(basis.run), trace_(basis.run.trace), phases_(phases) {}

  Accumulation Find() {
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
    return std::move(result_);
  }

 private:
  bool IsGradient(std::uint32_t op) const {
    if (!run_.IsComm(op)) return false;
    const std::string& kind = run_.names.Kernel(trace_.ops.detail[op]).collective;
    return kind == "allreduce" || kind == "reducescatter" || kind == "reduce";
  }
  Nanos Length(std::uint32_t op) const { return trace_.ops.end[op] - trace_.ops.start[op]; }

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

  const Basis& basis_;
  const Run& run_;
  const Trace& trace_;
  const Phases& phases_;
  Accumulation result_;
};

}  // namespace

Accumulation FindAccumulation(const Basis& basis, const Phases& phases) {
  return AccumulationFinder(basis, phases).Find();
}

}  // namespace advise
