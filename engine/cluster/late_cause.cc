#include "engine/cluster/late_cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "engine/base/median.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr const char* kCopies = "it copies longer";
constexpr const char* kPrepares =
    "its host code takes longer right before it copies data to the GPU, and probably prepares that "
    "data";
// What hosts do where they keep their GPU waiting by what they run themselves.
constexpr IdleCause kOfHosts[] = {IdleCause::kHostCompute, IdleCause::kLaunch};

class CauseFinder {
 public:
  CauseFinder(const std::vector<RankSummary>& ranks, const Job& job, const Knowledge& knowledge,
              bool now_and_then)
      : ranks_(ranks), job_(job), knowledge_(knowledge), now_and_then_(now_and_then) {}

  LateCause Of(const std::set<std::uint32_t>& slow) const {
    using Kind = LateCause::Kind;
    struct Times {
      std::vector<double> own, others;  // by rank
    };
    std::map<std::string, Times> by_words;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      std::map<std::string, double> of_rank = TimesOf(r);
      // A GPU that still has work, and waits for the other slow ranks, does not wait for its host.
      if (slow.contains(r)) {
        double& host = of_rank[WordsOf(IdleCause::kHostCompute).late];
        host = std::max(host, BeyondItsGpu(r));
      }
      for (const auto& [words, time] : of_rank) {
        Times& times = by_words[words];
        (slow.contains(r) ? times.own : times.others).push_back(time);
      }
    }
    double most = 0;
    const std::string* worst = nullptr;
    for (const auto& [words, times] : by_words) {
      const double excess = LowerMedian(times.own) - LowerMedian(times.others);
      if (excess > most) most = excess, worst = &words;
    }
    if (BeginsLater(slow) > most)
      return {"it began later, with work that was not captured", Kind::kUncaptured};
    if (LaunchMoreSlowly(ranks_, knowledge_, slow) && LongestHost(slow) >= std::max(most, 1.0))
      return {SlowerLaunches(slow), Kind::kSlowHost};
    if (worst == nullptr) return {"the captures do not show why"};
    if (*worst == kCopies && HasSlowLink(slow))
      return {"it copies as much as the others, but more slowly"};
    if (*worst == WordsOf(IdleCause::kHostCompute).late)
      return {PreparesLonger(slow, most) ? kPrepares : *worst, Kind::kHostCode};
    if (*worst == WordsOf(IdleCause::kDataLoading).late) return {*worst, Kind::kLessData};
    if (!worst->empty()) return {*worst};
    if (std::string models = OtherModel(slow); !models.empty())
      return {std::move(models), Kind::kSlowGpu};
    if (AtTimes(slow))
      return {"in some steps it computes far longer, as for an evaluation", Kind::kMoreAtTimes};
    if (!SameKernels(slow)) return {"it has more work on the GPU", Kind::kMoreWork};
    return {"the same kernels run more slowly there (clock, heat, or another process)",
            Kind::kSlowGpu};
  }

 private:
  // A rank's time by what is said when it makes the rank late; computing has "". What it waits for
  // others does not make it late.
  std::map<std::string, double> TimesOf(std::uint32_t rank) const {
    RankTime sum;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      const RankTime& time = job_.TimeOf(ranks_, rank, s);
      sum.compute += time.compute;
      sum.copy_exposed += time.copy_exposed + time.memset_exposed;
      for (std::size_t c = 0; c < kIdleCauseCount; ++c) sum.causes[c] += time.causes[c];
    }
    std::map<std::string, double> times;
    times[""] = static_cast<double>(sum.compute);
    times[kCopies] = static_cast<double>(sum.copy_exposed);
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      const auto cause = static_cast<IdleCause>(c);
      if (cause != IdleCause::kPeerWait)
        times[WordsOf(cause).late] += static_cast<double>(sum.causes[c]);
    }
    // What it writes is no data that it waits for.
    const auto writes =
        static_cast<double>(std::min(ranks_[rank].wrote_files, sum.Cause(IdleCause::kFileIo)));
    times[WordsOf(IdleCause::kFileIo).late] -= writes;
    times["it writes files"] += writes;
    return times;
  }

  // What the host of a rank works longer than its steps take without waits for others.
  double BeyondItsGpu(std::uint32_t rank) const {
    Nanos own = 0;
    for (std::size_t s = 0; s < job_.steps; ++s) own += job_.Own(rank, s);
    return static_cast<double>(std::max<Nanos>(0, job_.host_works[rank] - own));
  }

  // Whether what their hosts take longer, `excess`, is code whose thread goes on with a copy to the
  // GPU: neither logging nor a slow processor keeps to that place.
  bool PreparesLonger(const std::set<std::uint32_t>& slow, double excess) const {
    std::vector<double> own, others;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      (slow.contains(r) ? own : others).push_back(static_cast<double>(ranks_[r].before_uploads));
    return LowerMedian(own) - LowerMedian(others) >=
           knowledge_.Number("rank.prepares_share") * excess;
  }

  // The longest time that one of these hosts keeps all ranks waiting: it is enough that the GPU of
  // one of them runs behind.
  double LongestHost(const std::set<std::uint32_t>& slow) const {
    double longest = 0;
    for (const std::uint32_t r : slow) {
      const std::map<std::string, double> times = TimesOf(r);
      double idle = 0;
      for (const IdleCause cause : kOfHosts) idle += times.at(WordsOf(cause).late);
      longest = std::max({longest, idle, BeyondItsGpu(r)});
    }
    return longest;
  }

  // Of ranks that LaunchMoreSlowly().
  std::string SlowerLaunches(const std::set<std::uint32_t>& slow) const {
    std::vector<Nanos> own, others;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      (slow.contains(r) ? own : others).push_back(ranks_[r].launch_call);
    return fmt::format(
        "each kernel launch takes {} there, and {} on other ranks (slow or shared cores)",
        FormatQuantity(static_cast<double>(LowerMedian(own)), "ns"),
        FormatQuantity(static_cast<double>(LowerMedian(others)), "ns"));
  }

  // Where the slow ranks have a GPU of one model, and all others of another one, says so; else "".
  std::string OtherModel(const std::set<std::uint32_t>& slow) const {
    std::set<std::string> own, others;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r)
      (slow.contains(r) ? own : others).insert(ranks_[r].device_name);
    if (own.size() != 1 || others.size() != 1 || own == others) return "";
    if (own.begin()->empty() || others.begin()->empty()) return "";
    return fmt::format("its GPU is another model, {}, where the others have {}", *own.begin(),
                       *others.begin());
  }

  // Whether a few steps hold what they compute longer than the others.
  bool AtTimes(const std::set<std::uint32_t>& slow) const {
    if (!job_.has_steps) return now_and_then_;
    std::vector<Nanos> usual;
    std::vector<Nanos> excess;
    for (std::size_t s = 0; s < job_.steps; ++s) {
      std::vector<Nanos> own;
      std::vector<Nanos> others;
      for (std::uint32_t r = 0; r < ranks_.size(); ++r)
        (slow.contains(r) ? own : others).push_back(job_.TimeOf(ranks_, r, s).compute);
      usual.push_back(LowerMedian(others));
      excess.push_back(LowerMedian(own) - usual.back());
    }
    const double much =
        knowledge_.Number("rank.at_times_excess") * static_cast<double>(LowerMedian(usual));
    double all = 0;
    double in_few = 0;
    std::size_t few = 0;
    for (const Nanos more : excess) {
      all += std::abs(static_cast<double>(more));
      if (static_cast<double>(more) < much) continue;
      in_few += static_cast<double>(more);
      ++few;
    }
    return few > 0 && in_few >= knowledge_.Number("rank.at_times_share") * all &&
           static_cast<double>(few) <=
               knowledge_.Number("rank.at_times_steps") * static_cast<double>(job_.steps);
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

  // Whether the slow ranks move as much per step as the others, over slower links.
  bool HasSlowLink(const std::set<std::uint32_t>& slow) const {
    std::vector<double> bytes[2];  // per step: of the others, of the slow ones
    std::vector<double> rates[2];
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const RankSummary& rank = ranks_[r];
      if (rank.copied_time <= 0) return false;
      const double steps = rank.StepsInWindow();
      bytes[slow.contains(r) ? 1 : 0].push_back(rank.copied_bytes / steps);
      rates[slow.contains(r) ? 1 : 0].push_back(rank.copied_bytes /
                                                static_cast<double>(rank.copied_time));
    }
    if (bytes[0].empty() || bytes[1].empty()) return false;
    return LowerMedian(bytes[1]) <=
               knowledge_.Number("rank.more_kernels") * LowerMedian(bytes[0]) &&
           LowerMedian(rates[1]) <= knowledge_.Number("rank.slow_link") * LowerMedian(rates[0]);
  }

  // Blocks per kernel: where kernels are as many, larger grids are more work.
  static double Grid(const RankSummary& rank) {
    return rank.kernels_count > 0 ? rank.blocks / static_cast<double>(rank.kernels_count) : 0;
  }

  // Kernels of the slow ranks that the others run, too: what each takes there, and how much longer
  // and in how much larger grids it runs here.
  struct Against {
    double weight = 0;  // time, at the pace of the others
    double longer = 1;
    double larger = 1;  // 1 where grids are unknown
  };
  std::vector<Against> AgainstOthers(const std::set<std::uint32_t>& slow) const {
    struct Usual {
      std::vector<double> medians, blocks;
    };
    const auto blocks_of = [](const RankSummary& rank, std::size_t kernel) {
      return kernel < rank.kernel_blocks.size() ? rank.kernel_blocks[kernel] : 0;
    };
    std::map<std::string, Usual> usual;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      if (slow.contains(r)) continue;
      for (std::size_t k = 0; k < ranks_[r].kernels.size(); ++k) {
        Usual& of_name = usual[ranks_[r].kernels[k].name];
        of_name.medians.push_back(static_cast<double>(ranks_[r].kernels[k].median));
        of_name.blocks.push_back(blocks_of(ranks_[r], k));
      }
    }
    std::vector<Against> all;
    for (const std::uint32_t r : slow) {
      for (std::size_t k = 0; k < ranks_[r].kernels.size(); ++k) {
        const RankKernel& kernel = ranks_[r].kernels[k];
        const auto others = usual.find(kernel.name);
        if (others == usual.end()) continue;
        // By what it takes elsewhere: a slow clock slows all kernels down, while a few that have
        // more to do take most of the time just because of that.
        const double median = LowerMedian(others->second.medians);
        const double blocks = LowerMedian(others->second.blocks);
        if (median <= 0) continue;
        all.push_back({median * static_cast<double>(kernel.count),
                       static_cast<double>(kernel.median) / median,
                       blocks > 0 ? blocks_of(ranks_[r], k) / blocks : 1});
      }
    }
    return all;
  }

  // Whether grids of some kernels are larger by about as much as kernels take longer: grids of
  // matrix products and of normalization often fill the GPU whatever they work on, those of
  // element-wise kernels tell that there is more data.
  bool LongerByGrids(const std::vector<Against>& kernels) const {
    std::vector<double> larger, longer;  // one by one
    double all = 0;
    double grown = 0;
    for (const Against& one : kernels) {
      all += one.weight;
      if (one.longer > knowledge_.Number("rank.slower_kernel")) longer.push_back(one.longer);
      if (one.larger <= knowledge_.Number("rank.more_kernels")) continue;
      grown += one.weight;
      larger.push_back(one.larger);
    }
    if (larger.empty() || longer.empty()) return false;
    return grown >= knowledge_.Number("rank.larger_grids") * all &&
           2 * std::log(LowerMedian(larger)) >= std::log(LowerMedian(longer));
  }

  // Whether the slow ranks run as many compute kernels in grids as large as the others, each of
  // which takes longer.
  bool SameKernels(const std::set<std::uint32_t>& slow) const {
    std::vector<double> counts;
    std::vector<double> grids;
    double own = 0;
    double grid = 0;
    for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
      const double steps = ranks_[r].StepsInWindow();
      const double count = static_cast<double>(ranks_[r].kernels_count) / steps;
      if (!slow.contains(r)) {
        counts.push_back(count);
        grids.push_back(Grid(ranks_[r]));
      } else {
        own = std::max(own, count);
        grid = std::max(grid, Grid(ranks_[r]));
      }
    }
    if (grid > knowledge_.Number("rank.more_kernels") * LowerMedian(grids)) return false;
    if (own > knowledge_.Number("rank.more_kernels") * LowerMedian(counts)) return false;
    const std::vector<Against> kernels = AgainstOthers(slow);
    if (LongerByGrids(kernels)) return false;
    const double slower_by = knowledge_.Number("rank.slower_kernel");
    double slower = 0;
    double all = 0;
    for (const Against& one : kernels) {
      all += one.weight;
      if (one.longer > slower_by) slower += one.weight;
    }
    return slower >= knowledge_.Number("rank.slower_time") * all && all > 0;
  }

  const std::vector<RankSummary>& ranks_;
  const Job& job_;
  const Knowledge& knowledge_;
  const bool now_and_then_;
};

}  // namespace

LateCause FindLateCause(const std::vector<RankSummary>& ranks, const Job& job,
                        const Knowledge& knowledge, const std::set<std::uint32_t>& slow,
                        bool now_and_then) {
  return CauseFinder(ranks, job, knowledge, now_and_then).Of(slow);
}

bool LaunchMoreSlowly(const std::vector<RankSummary>& ranks, const Knowledge& knowledge,
                      const std::set<std::uint32_t>& slow) {
  Nanos own = std::numeric_limits<Nanos>::max();
  Nanos others = 0;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].launch_call <= 0) return false;
    if (slow.contains(r)) {
      own = std::min(own, ranks[r].launch_call);
    } else {
      others = std::max(others, ranks[r].launch_call);
    }
  }
  return !slow.empty() && others > 0 &&
         static_cast<double>(own) >=
             knowledge.Number("rank.slower_launch") * static_cast<double>(others);
}

bool NowAndThen(const std::vector<RankSummary>& ranks, const Knowledge& knowledge,
                std::vector<double> waits) {
  std::size_t steps = 0;
  for (const RankSummary& rank : ranks) {
    if (!rank.steps.empty())
      steps = steps == 0 ? rank.steps.size() : std::min(steps, rank.steps.size());
  }
  const auto few = static_cast<std::size_t>(knowledge.Number("rank.at_times_steps") *
                                            static_cast<double>(steps));
  std::sort(waits.begin(), waits.end(), std::greater<>());
  const auto end = waits.begin() + static_cast<std::ptrdiff_t>(std::min(few, waits.size()));
  return few > 0 && std::accumulate(waits.begin(), end, 0.0) >=
                        knowledge.Number("rank.at_times_share") *
                            std::accumulate(waits.begin(), waits.end(), 0.0);
}

double LargestPart(const std::vector<double>& waits, std::size_t occasions) {
  constexpr std::size_t kFew = 4;
  const double all = std::accumulate(waits.begin(), waits.end(), 0.0);
  if (occasions < kFew || all <= 0) return 0;
  return *std::max_element(waits.begin(), waits.end()) / all;
}

}  // namespace advise
