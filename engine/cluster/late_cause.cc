#include "engine/cluster/late_cause.h"

#include <map>

#include "engine/cluster/lower_median.h"

namespace advise {
namespace {

class CauseFinder {
 public:
  CauseFinder(const std::vector<RankSummary>& ranks, const Job& job, const Knowledge& knowledge)
      : ranks_(ranks), job_(job), knowledge_(knowledge) {}

  std::string Of(const std::set<std::uint32_t>& slow) const {
    struct Kind {
      const char* words;
      Nanos (*of)(const RankTime&);
    };
    static const std::vector<Kind> kKinds = {
        {"", [](const RankTime& t) { return t.compute; }},
        {"it waits longer for data", [](const RankTime& t) { return t.Loading(); }},
        {"its host launches more slowly",
         [](const RankTime& t) { return t.Cause(IdleCause::kLaunch); }},
        {"its host waits in synchronization calls",
         [](const RankTime& t) { return t.Cause(IdleCause::kHostSync); }},
        {"it copies longer", [](const RankTime& t) { return t.copy_exposed + t.memset_exposed; }},
        {"it allocates memory", [](const RankTime& t) { return t.Cause(IdleCause::kAllocation); }},
        {"it compiles or loads code",
         [](const RankTime& t) { return t.Cause(IdleCause::kJitOrModuleLoad); }},
        {"its host is slower",
         [](const RankTime& t) {
           return t.Cause(IdleCause::kHostCompute) + t.Cause(IdleCause::kHostWait) +
                  t.Cause(IdleCause::kUnknown) + t.Cause(IdleCause::kNoWorkQueued) +
                  t.Cause(IdleCause::kProfilerOverhead);
         }},
    };
    double most = 0;
    const Kind* worst = nullptr;
    for (const Kind& kind : kKinds) {
      std::vector<double> others;
      std::vector<double> own;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
        (slow.contains(r) ? own : others).push_back(Sum(r, kind.of));
      }
      const double excess = LowerMedian(own) - LowerMedian(others);
      if (excess > most) most = excess, worst = &kind;
    }
    if (BeginsLater(slow) > most) return "it began later, with work that was not captured";
    if (worst == nullptr) return "the captures do not show why";
    if (*worst->words != '\0') return worst->words;
    return SameKernels(slow) ? "the same kernels run slower there (clock, heat, or another process)"
                             : std::string(kMoreWork);
  }

 private:
  double Sum(std::uint32_t rank, Nanos (*of)(const RankTime&)) const {
    double sum = 0;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      sum += static_cast<double>(of(job_.TimeOf(ranks_, rank, s)));
    }
    return sum;
  }

  // By how much their captures begin after those of the others.
  double BeginsLater(const std::set<std::uint32_t>& slow) const {
    std::vector<double> others;
    std::vector<double> own;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      (slow.contains(r) ? own : others).push_back(static_cast<double>(job_.before[r]));
    }
    return LowerMedian(own) - LowerMedian(others);
  }

  // Whether the slow ranks run as many compute kernels as the others, each of which takes longer.
  bool SameKernels(const std::set<std::uint32_t>& slow) const {
    std::vector<double> counts;
    double own = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const double steps = static_cast<double>(std::max<std::size_t>(1, ranks_[r].steps.size()));
      const double count = static_cast<double>(ranks_[r].kernels_count) / steps;
      if (!slow.contains(r)) {
        counts.push_back(count);
      } else {
        own = std::max(own, count);
      }
    }
    if (own > knowledge_.Number("rank.more_kernels") * LowerMedian(counts)) return false;
    // By name: the median of a kernel against its median on the other ranks, weighted by time.
    std::map<std::string, std::vector<double>> medians;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (slow.contains(r)) continue;
      for (const RankKernel& kernel : ranks_[r].kernels) {
        medians[kernel.name].push_back(static_cast<double>(kernel.median));
      }
    }
    const double slower_by = knowledge_.Number("rank.slower_kernel");
    double slower = 0;
    double all = 0;
    for (const std::uint32_t r : slow) {
      for (const RankKernel& kernel : ranks_[r].kernels) {
        const auto others = medians.find(kernel.name);
        if (others == medians.end()) continue;
        const auto weight = static_cast<double>(kernel.total);
        all += weight;
        if (static_cast<double>(kernel.median) > slower_by * LowerMedian(others->second)) {
          slower += weight;
        }
      }
    }
    return slower >= knowledge_.Number("rank.slower_time") * all && all > 0;
  }

  const std::vector<RankSummary>& ranks_;
  const Job& job_;
  const Knowledge& knowledge_;
};

}  // namespace

std::string LateCause(const std::vector<RankSummary>& ranks, const Job& job,
                      const Knowledge& knowledge, const std::set<std::uint32_t>& slow) {
  return CauseFinder(ranks, job, knowledge).Of(slow);
}

}  // namespace advise
