#include "engine/metrics/losses/steps/step_work.h"

#include <algorithm>
#include <map>

#include "engine/base/median.h"

namespace advise {
namespace {

class StepWorkFinder : Finder {
 public:
  StepWorkFinder(const Basis& basis, const Phases& phases, const std::vector<std::size_t>& steps)
      : Finder(basis), phases_(phases), some_(steps), of_step_(run_.steps.all.size()) {}

  StepWork Find() {
    if (some_.empty()) return {};
    Tally();
    std::vector<double> usual_count;
    std::vector<double> usual_time;
    Work all;
    for (std::size_t i = run_.steps.first_steady; i < of_step_.size(); ++i) {
      if (IsOneOfThem(i)) {
        all.count += of_step_[i].count;
        all.time += of_step_[i].time;
      } else if (!run_.steps.IsOutlier(i)) {
        usual_count.push_back(of_step_[i].count);
        usual_time.push_back(of_step_[i].time);
      }
    }
    const auto steps = static_cast<double>(some_.size());
    const double usual = Median(std::move(usual_count));
    StepWork work;
    if (usual > 0) work.times = all.count / steps / usual;
    const double extra = all.time - steps * Median(std::move(usual_time));
    for (const auto& [phase, time] : named_) {
      if (2 * time > extra) work.phase = phase;
    }
    return work;
  }

 private:
  struct Work {
    double count = 0;  // of kernels and graphs
    double time = 0;   // theirs, in ns
  };

  bool IsOneOfThem(std::size_t step) const {
    return std::binary_search(some_.begin(), some_.end(), step);
  }

  void Tally() {
    for (const std::uint32_t op : run_.ops_of_device[run_.active_devices.front()]) {
      const OpKind kind = trace_.ops.kind[op];
      if ((kind != OpKind::kKernel && kind != OpKind::kGraph) || run_.IsComm(op)) continue;
      const std::uint32_t step = run_.steps.At(trace_.ops.start[op]);
      if (step == kNone) continue;
      const auto length = static_cast<double>(Length(op));
      of_step_[step].count += 1;
      of_step_[step].time += length;
      if (!IsOneOfThem(step)) continue;
      const Phase phase = phases_.OfOp(run_, op);
      if (phase >= Phase::kEvaluation) named_[phase] += length;
    }
  }

  const Phases& phases_;
  const std::vector<std::size_t>& some_;
  std::vector<Work> of_step_;
  std::map<Phase, double> named_;  // time in these steps of what such ranges launched
};

}  // namespace

StepWork WorkOf(const Basis& basis, const Phases& phases, const std::vector<std::size_t>& steps) {
  return StepWorkFinder(basis, phases, steps).Find();
}

}  // namespace advise
