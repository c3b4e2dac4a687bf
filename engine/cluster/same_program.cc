#include "engine/cluster/same_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "engine/base/text.h"

namespace advise {
namespace {

// A kernel's name without what tuning and sizes change: "ampere_sgemm_128x64_tn" and
// "ampere_sgemm_64x32_tn" are the same work on other sizes.
std::string Stem(std::string_view name) {
  std::string stem;
  for (const char c : name) {
    if (c < '0' || c > '9') stem += c;
  }
  return stem;
}

// Whether both say that they are ranks of a job of this size, and different ones.
bool SameWorld(const RankSummary& a, const RankSummary& b) {
  return a.world_size > 1 && a.world_size == b.world_size && a.rank >= 0 && b.rank >= 0 &&
         a.rank != b.rank;
}

using Times = std::map<std::string, double>;

struct OfReport {
  const RankSummary* first = nullptr;  // of its ranks
  Times times;                         // compute time by kernel of all of them
};

// The reports in the order of their first ranks. O(kernels of all ranks).
std::vector<OfReport> KernelTimes(const std::vector<RankSummary>& ranks) {
  std::vector<OfReport> reports;
  std::map<std::string_view, std::size_t> places;
  for (const RankSummary& rank : ranks) {
    const auto [place, added] = places.try_emplace(rank.path, reports.size());
    if (added) reports.push_back({&rank, {}});
    Times& times = reports[place->second].times;
    for (const RankKernel& kernel : rank.kernels)
      times[Stem(kernel.name)] += static_cast<double>(kernel.total);
  }
  return reports;
}

// Part of the time of `a` in kernels that `b` has, too.
double Shared(const Times& a, const Times& b) {
  double all = 0;
  double shared = 0;
  for (const auto& [name, time] : a) {
    all += time;
    if (b.contains(name)) shared += time;
  }
  return all > 0 ? shared / all : 1;
}

std::string DifferentKernels(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  const std::vector<OfReport> reports = KernelTimes(ranks);
  const OfReport& first = reports.front();
  if (first.times.empty()) return "";
  for (const OfReport& other : reports) {
    if (other.times.empty()) continue;
    const double shared =
        std::min(Shared(first.times, other.times), Shared(other.times, first.times));
    const double least = knowledge.Number(
        SameWorld(*first.first, *other.first) ? "cluster.same_world" : "cluster.same_program");
    if (shared >= least) continue;
    return fmt::format("{} and {} run different programs: {} of the time is in kernels of both",
                       first.first->path, other.first->path, FormatQuantity(shared, "share"));
  }
  return "";
}

Nanos Began(const RankSummary& rank) { return rank.utc_origin_ns + rank.window_start; }

std::string FarApart(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  const RankSummary& a = ranks.front();
  if (a.utc_origin_ns == 0) return "";
  for (const RankSummary& b : ranks) {
    if (b.utc_origin_ns == 0 || b.path == a.path) continue;
    const auto apart =
        static_cast<double>(Began(a) > Began(b) ? Began(a) - Began(b) : Began(b) - Began(a));
    const auto longest = static_cast<double>(std::max(a.Window(), b.Window()));
    if (apart < knowledge.Number("cluster.far_apart") + longest) continue;
    return fmt::format("{} and {} were recorded {} apart", a.path, b.path,
                       FormatQuantity(apart, "ns"));
  }
  return "";
}

// Whether both say that they are ranks, and different ones.
bool SayOtherwise(const RankSummary& a, const RankSummary& b) {
  return a.rank >= 0 && b.rank >= 0 && a.rank != b.rank;
}

// Whether no more than the names of their files tells them apart: a file may be copied.
bool OnlyNamesDiffer(const RankSummary& a, const RankSummary& b) {
  return a.rank_source == "file name" && b.rank_source == "file name" && a.host == b.host &&
         a.pid == b.pid && a.device == b.device && a.device_uuid == b.device_uuid;
}

// One after the other, as far as their clocks tell: cut captures may overlap by a little, ranks run
// together.
bool MostlyApart(const RankSummary& a, const RankSummary& b, double most) {
  if ((a.utc_origin_ns == 0) != (b.utc_origin_ns == 0)) return false;
  const Nanos both =
      std::min(Began(a) + a.Window(), Began(b) + b.Window()) - std::max(Began(a), Began(b));
  return static_cast<double>(both) <= most * static_cast<double>(std::min(a.Window(), b.Window()));
}

}  // namespace

std::vector<std::uint32_t> SameCaptures(const std::vector<RankSummary>& ranks) {
  std::vector<std::uint32_t> repeats(ranks.size(), kNone);
  std::map<std::uint64_t, std::uint32_t> first;
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].work_print == 0) continue;
    const auto [known, added] = first.try_emplace(ranks[r].work_print, r);
    if (added) continue;
    const RankSummary& other = ranks[known->second];
    // A facts file gives the path of the report that it was made of.
    if (other.path == ranks[r].path && other.report == ranks[r].report) continue;
    if (!SayOtherwise(other, ranks[r]) || OnlyNamesDiffer(other, ranks[r]))
      repeats[r] = known->second;
  }
  return repeats;
}

std::vector<std::uint32_t> OtherWindows(const std::vector<RankSummary>& ranks,
                                        const Knowledge& knowledge) {
  struct Shown {  // by file
    bool loop = false;
    Nanos time = 0;
    auto operator<=>(const Shown&) const = default;
  };
  std::map<std::string_view, Shown> shown;
  for (const RankSummary& rank : ranks) {
    Shown& of_file = shown[rank.path];
    of_file.loop = of_file.loop || rank.supports_verdict;
    of_file.time += rank.Window();
  }
  using Key = std::tuple<std::string_view, std::int64_t, std::string_view, int>;
  std::map<Key, std::uint32_t> longest;
  const auto key = [&](std::uint32_t r) {
    return Key{ranks[r].host, ranks[r].pid, ranks[r].device_uuid, ranks[r].device};
  };
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    const auto [known, added] = longest.try_emplace(key(r), r);
    if (!added && shown[ranks[r].path] > shown[ranks[known->second].path]) known->second = r;
  }
  const double overlap = knowledge.Number("cluster.windows_overlap");
  std::vector<std::uint32_t> others(ranks.size(), kNone);
  for (std::uint32_t r = 0; r < ranks.size(); ++r) {
    const std::uint32_t kept = longest.at(key(r));
    const RankSummary& other = ranks[kept];
    const bool same = ranks[r].pid != 0 && other.path != ranks[r].path;
    if (!same || SayOtherwise(other, ranks[r])) continue;
    // Containers number their processes and GPUs alike: only the GPU's own number is proof. Files
    // that claim one rank may be of two runs.
    const bool claims = other.rank >= 0 && ranks[r].rank >= 0;
    const bool proven = !claims && !other.device_uuid.empty();
    if (proven || MostlyApart(other, ranks[r], overlap)) others[r] = kept;
  }
  return others;
}

std::vector<std::vector<std::size_t>> ReportsOfOneGpu(
    const std::vector<std::vector<RankSummary>>& of_report, const Knowledge& knowledge) {
  const double overlap = knowledge.Number("cluster.windows_overlap");
  const auto share = [&](const RankSummary& a, const RankSummary& b) {
    return a.device_uuid == b.device_uuid && a.pid != b.pid && !MostlyApart(a, b, overlap) &&
           DifferentRuns({a, b}, knowledge).empty();
  };
  std::vector<std::size_t> group(of_report.size());  // by report: the first of its group
  for (std::size_t i = 0; i < group.size(); ++i) group[i] = i;
  std::map<std::string_view, std::vector<std::pair<std::size_t, const RankSummary*>>> of_gpu;
  for (std::size_t i = 0; i < of_report.size(); ++i) {
    for (const RankSummary& rank : of_report[i]) {
      if (rank.device_uuid.empty() || rank.utc_origin_ns == 0) continue;
      auto& others = of_gpu[rank.device_uuid];
      for (const auto& [report, other] : others) {
        const std::size_t from = std::max(group[report], group[i]);
        const std::size_t to = std::min(group[report], group[i]);
        if (from != to && share(*other, rank)) std::replace(group.begin(), group.end(), from, to);
      }
      others.emplace_back(i, &rank);
    }
  }
  std::map<std::size_t, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < group.size(); ++i) groups[group[i]].push_back(i);
  std::vector<std::vector<std::size_t>> shared;
  for (auto& [first, reports] : groups) {
    if (reports.size() > 1) shared.push_back(std::move(reports));
  }
  return shared;
}

std::string DifferentRuns(const std::vector<RankSummary>& ranks, const Knowledge& knowledge) {
  if (ranks.size() < 2) return "";
  for (std::size_t i = 1; i < ranks.size(); ++i) {
    const RankSummary& a = ranks.front();
    const RankSummary& b = ranks[i];
    if (!a.job.empty() && !b.job.empty() && a.job != b.job) {
      return fmt::format("{} is of {}, {} of {}", a.path, a.job, b.path, b.job);
    }
    if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) {
      return fmt::format("{} is of a run on {} ranks, {} of one on {}", a.path, a.world_size,
                         b.path, b.world_size);
    }
  }
  const bool same_job = !ranks.front().job.empty() &&
                        std::all_of(ranks.begin(), ranks.end(), [&](const RankSummary& rank) {
                          return rank.job == ranks.front().job;
                        });
  if (same_job) return "";  // whatever its programs do
  const std::string kernels = DifferentKernels(ranks, knowledge);
  return kernels.empty() ? FarApart(ranks, knowledge) : kernels;
}

}  // namespace advise
