#include "engine/metrics/losses/ranks/accumulation.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace advise {
namespace {

constexpr Nanos kOpen = std::numeric_limits<Nanos>::max();  // the end of a pass that goes on

class AccumulationFinder : Finder {
 public:
  AccumulationFinder(const Basis& basis, const Phases& phases)
      : Finder(basis),
        phases_(phases),
        losses_(run_.names.Shapes([](const KernelClass& c) { return c.HasTrait("loss"); })),
        updates_(run_.names.Shapes([](const KernelClass& c) { return c.name == "optimizer"; })) {}

  Accumulation Find() {
    LossBuilder early(basis_);
    std::vector<double> backwards;
    std::vector<double> synced;
    std::vector<double> optimizers;
    std::set<std::uint32_t> processes;
    for (const std::uint32_t thread : run_.launching_threads) {
      processes.insert(trace_.threads[thread].process);
    }
    if (run_.steps.known()) {
      named_ = phases_.known(Phase::kBackward);
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
          const Passes passes = named_ ? NamedPasses(process, step) : PassesByLosses(process, step);
          if (!named_ && !Alike(passes.backward, launched)) continue;
          OneStep(passes, launched, &early, &backwards, &synced, &optimizers);
        }
      }
    }
    result_.backwards = Median(std::move(backwards));
    result_.synced = Median(std::move(synced));
    result_.optimizers = Median(std::move(optimizers));
    result_.early = early.Build();
    // What the last gradients wait for, which the replay need not know, stays.
    const auto devices = static_cast<Nanos>(std::max<std::size_t>(1, run_.active_devices.size()));
    result_.early.remedy->reach_ns = result_.early.lost->Total() / devices;
    result_.early.remedy->reach_reason = "sending the gradients of the last pass";
    return std::move(result_);
  }

 private:
  bool IsGradient(std::uint32_t op) const {
    if (!run_.IsComm(op)) return false;
    const std::string& kind = run_.names.Kernel(trace_.ops.detail[op]).collective;
    return kind == "allreduce" || kind == "reducescatter" || kind == "reduce";
  }

  // Of one step, by when their work is launched.
  struct Passes {
    std::vector<Interval> backward;
    std::size_t updates = 0;
  };

  Passes NamedPasses(std::uint32_t process, const Step& step) {
    return {Starting(process, Phase::kBackward, step),
            Starting(process, Phase::kOptimizer, step).size()};
  }

  // Where steps are times of the GPU's work, a pass is of the step that its own work begins in: the
  // host may have gone through it steps before.
  std::vector<Interval> Starting(std::uint32_t process, Phase phase, const Step& step) {
    const IntervalSet& all = phases_.Of(process, phase);
    std::vector<Interval> passes;
    if (!run_.steps.of_device) {
      const auto inside = all.StartingIn(step.start, step.end);
      passes.assign(inside.begin(), inside.end());
      return passes;
    }
    const std::vector<Begun>& begun = BegunOf(process, phase);
    const auto first = std::lower_bound(begun.begin(), begun.end(), step.start,
                                        [](const Begun& b, Nanos t) { return b.at < t; });
    for (auto one = first; one != begun.end() && one->at < step.end; ++one)
      passes.push_back(one->pass);
    return passes;
  }

  // A pass of the host, and when the GPU began its work.
  struct Begun {
    Nanos at = 0;
    Interval pass;
  };

  // All that have work, in the order in which it began.
  const std::vector<Begun>& BegunOf(std::uint32_t process, Phase phase) {
    const auto [at, is_new] = begun_.try_emplace({process, phase});
    if (!is_new) return at->second;
    const std::vector<std::pair<Nanos, Nanos>>& work = WorkOf(process);
    for (const Interval& pass : phases_.Of(process, phase).intervals()) {
      const auto first =
          std::lower_bound(work.begin(), work.end(), std::pair<Nanos, Nanos>{pass.start, 0});
      if (first != work.end() && first->first < pass.end)
        at->second.push_back({first->second, pass});
    }
    std::stable_sort(at->second.begin(), at->second.end(),
                     [](const Begun& a, const Begun& b) { return a.at < b.at; });
    return at->second;
  }

  // When each kernel but those of communication was launched, and began, in order of the launches.
  const std::vector<std::pair<Nanos, Nanos>>& WorkOf(std::uint32_t process) {
    const auto [at, is_new] = work_.try_emplace(process);
    if (!is_new) return at->second;
    for (std::uint32_t op = 0; op < trace_.ops.size(); ++op) {
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || trace_.ops.kind[op] != OpKind::kKernel || run_.IsComm(op) ||
          run_.ProcessOfCall(call) != process)
        continue;
      at->second.emplace_back(trace_.calls.start[call], trace_.ops.start[op]);
    }
    std::sort(at->second.begin(), at->second.end());
    return at->second;
  }

  // Where no range names them: a backward pass begins with the loss and ends where the update or
  // the next loss does. A loss may take several kernels, with nothing but small ones in between.
  Passes PassesByLosses(std::uint32_t process, const Step& step) const {
    Passes passes;
    bool in_update = false;
    const auto first =
        std::lower_bound(trace_.ops.start.begin(), trace_.ops.start.end(), step.start);
    for (auto op = static_cast<std::uint32_t>(first - trace_.ops.start.begin());
         op < trace_.ops.size(); ++op) {
      const bool beyond = trace_.ops.start[op] >= step.end;
      if (beyond && (passes.backward.empty() || passes.backward.back().end != kOpen)) break;
      const std::uint32_t call = trace_.ops.call[op];
      if (call == kNone || trace_.ops.kind[op] != OpKind::kKernel ||
          run_.ProcessOfCall(call) != process)
        continue;
      const std::uint32_t shape = trace_.ops.detail[op];
      const Nanos launched = trace_.calls.start[call];
      const bool loss = losses_.Has(shape);
      const bool update = updates_.Has(shape);
      if ((loss || update) && !passes.backward.empty())
        passes.backward.back().end = std::min(passes.backward.back().end, launched);
      if (beyond) continue;
      if (loss) passes.backward.push_back({launched, kOpen});
      if (update && !in_update) ++passes.updates;
      if (loss || update) in_update = update;
    }
    return passes;
  }

  // Gradients are sent in each pass, as many times: else the losses are no passes of one kind.
  static bool Alike(const std::vector<Interval>& passes,
                    const std::vector<std::pair<Nanos, std::uint32_t>>& launched) {
    const auto sent = [&](const Interval& pass) {
      const auto from = std::lower_bound(launched.begin(), launched.end(),
                                         std::pair<Nanos, std::uint32_t>{pass.start, 0});
      return std::lower_bound(from, launched.end(), std::pair<Nanos, std::uint32_t>{pass.end, 0}) -
             from;
    };
    for (const Interval& pass : passes) {
      if (sent(pass) == 0 || sent(pass) != sent(passes.front())) return false;
    }
    return !passes.empty();
  }

  void OneStep(const Passes& of_step, const std::vector<std::pair<Nanos, std::uint32_t>>& launched,
               LossBuilder* early, std::vector<double>* backwards, std::vector<double>* synced,
               std::vector<double>* optimizers) const {
    const std::vector<Interval>& passes = of_step.backward;
    double with = 0;
    Nanos early_end = 0;  // of those that are sent early
    for (std::size_t p = 0; p < passes.size(); ++p) {
      auto at = std::lower_bound(launched.begin(), launched.end(),
                                 std::pair<Nanos, std::uint32_t>{passes[p].start, 0});
      bool any = false;
      for (; at != launched.end() && at->first < passes[p].end; ++at) {
        any = true;
        if (p + 1 == passes.size()) {
          AddDelayed(at, launched.end(), passes[p].end, early_end, early);
          break;
        }
        early_end = std::max(early_end, trace_.ops.end[at->second]);
        early->Count(at->first, 0, Length(at->second));
        early->RemoveExposed(at->second);
      }
      with += any ? 1 : 0;
    }
    backwards->push_back(static_cast<double>(passes.size()));
    synced->push_back(with);
    optimizers->push_back(static_cast<double>(of_step.updates));
  }

  // Gradients of the last pass that stand behind those of the early ones: without these they come
  // sooner by how long the early ones still took when the first of them was computed, less what the
  // early ones cost by themselves meanwhile.
  void AddDelayed(auto at, auto last, Nanos until, Nanos early_end, LossBuilder* early) const {
    const std::uint32_t first = at->second;
    const Nanos ready = std::max(at->first, ComputedBy(first, at->first));
    if (early_end <= ready) return;
    const IntervalSet& bare = basis_.times[trace_.ops.device[first]].comm_exposed;
    Nanos behind = early_end - ready - bare.OverlapWith(ready, early_end);
    for (; at != last && at->first < until && behind > 0; ++at) {
      const std::uint32_t op = at->second;
      const std::uint32_t device = trace_.ops.device[op];
      const IntervalSet exposed =
          basis_.times[device].comm_exposed.Clip(trace_.ops.start[op], trace_.ops.end[op]);
      for (const Interval& span : exposed.intervals()) {
        const Nanos length = std::min(span.Length(), behind);
        if (length > 0) early->AddSpan(device, span.start, span.start + length);
        behind -= length;
      }
    }
  }

  // When what was launched before `call` had been computed on the op's device.
  Nanos ComputedBy(std::uint32_t op, Nanos call) const {
    Nanos computed = 0;
    for (std::uint32_t before = op; before-- > 0;) {
      const std::uint32_t launch = trace_.ops.call[before];
      if (trace_.ops.device[before] != trace_.ops.device[op] || launch == kNone ||
          trace_.ops.kind[before] != OpKind::kKernel || run_.IsComm(before) ||
          trace_.calls.start[launch] >= call)
        continue;
      computed = trace_.ops.end[before];
      break;
    }
    return computed;
  }

  const Phases& phases_;
  ShapeSet losses_, updates_;
  bool named_ = false;  // ranges tell the backward pass
  std::map<std::uint32_t, std::vector<std::pair<Nanos, Nanos>>> work_;   // see WorkOf
  std::map<std::pair<std::uint32_t, Phase>, std::vector<Begun>> begun_;  // see BegunOf
  Accumulation result_;
};

}  // namespace

Accumulation FindAccumulation(const Basis& basis, const Phases& phases) {
  return AccumulationFinder(basis, phases).Find();
}

}  // namespace advise
