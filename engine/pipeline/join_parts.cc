#include "engine/pipeline/join_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "engine/advice/rank_run.h"
#include "engine/cluster/same_program.h"
#include "engine/facts/catalog.h"
#include "engine/lookup/look_up.h"
#include "engine/pipeline/late_messages.h"
#include "engine/pipeline/run_rules.h"

namespace advise {
namespace {

// Summaries of all parts, each with the part it is of. Ranks of one report share its clock.
std::vector<RankSummary> TakeRanks(std::vector<Part>* parts) {
  std::vector<RankSummary> ranks;
  std::uint32_t clocks = 0;
  std::map<std::string, std::uint32_t> clock_of;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    Part& part = (*parts)[i];
    if (!part.saved) continue;
    // A facts file names the report that it was made of. Where that is a part, too, they are two
    // files of one capture.
    const bool both =
        part.is_facts && std::any_of(parts->begin(), parts->end(), [&](const Part& of) {
          return !part.saved->ranks.empty() && of.path == part.saved->ranks.front().path;
        });
    const std::uint32_t first = clock_of.try_emplace(part.path, clocks).first->second;
    for (RankSummary& rank : part.saved->ranks) {
      rank.report = static_cast<std::uint32_t>(i);
      rank.clock += first;
      if (both) rank.path = part.path;
      clocks = std::max(clocks, rank.clock + 1);
      ranks.push_back(std::move(rank));
    }
  }
  return ranks;
}

// Their names, where those tell them apart; else their paths.
std::pair<std::string, std::string> ShortPaths(const std::string& one, const std::string& other) {
  const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  if (name(one) == name(other)) return {one, other};
  return {name(one), name(other)};
}

// Two reports that claim the same rank: one of them is of another run, or is an earlier capture.
void LeaveOutDuplicates(std::vector<RankSummary>* ranks, std::vector<Part>* parts) {
  std::map<int, std::string> seen;
  std::vector<RankSummary> kept;
  for (RankSummary& rank : *ranks) {
    if (rank.rank >= 0) {
      const auto [at, added] = seen.try_emplace(rank.rank, rank.path);
      if (!added && at->second != rank.path) {
        const auto [first, second] = ShortPaths(at->second, rank.path);
        (*parts)[rank.report].left_out.push_back(
            fmt::format("{} is left out: it claims to be rank {} ({}), as {} does", second,
                        rank.rank, rank.rank_source, first));
        continue;
      }
    }
    kept.push_back(std::move(rank));
  }
  *ranks = std::move(kept);
}

// Says why a rank's report is left out, once for all of its ranks.
void LeaveOut(const RankSummary& rank, std::string why, std::vector<Part>* parts) {
  std::vector<std::string>& reasons = (*parts)[rank.report].left_out;
  if (std::find(reasons.begin(), reasons.end(), why) == reasons.end())
    reasons.push_back(std::move(why));
}

void KeepOthers(const std::vector<std::uint8_t>& left_out, std::vector<RankSummary>* ranks) {
  std::vector<RankSummary> others;
  for (std::size_t r = 0; r < ranks->size(); ++r) {
    if (left_out[r] == 0) others.push_back(std::move((*ranks)[r]));
  }
  *ranks = std::move(others);
}

// One capture in two forms, such as a report and a table that was exported from it, or its facts:
// what tells more stays.
void LeaveOutRepeated(std::vector<RankSummary>* ranks, std::vector<Part>* parts) {
  const std::vector<std::uint32_t> repeats = SameCaptures(*ranks);
  const auto is_less = [&](const RankSummary& rank) {
    const std::vector<InputInfo>& inputs = (*parts)[rank.report].saved->report.inputs;
    return (*parts)[rank.report].is_facts ||
           (!inputs.empty() && inputs.front().kind == "gpu-trace");
  };
  std::vector<std::uint8_t> left_out(ranks->size(), 0);
  for (std::size_t r = 0; r < ranks->size(); ++r) {
    if (repeats[r] == kNone) continue;
    const bool first_goes = is_less((*ranks)[repeats[r]]) && !is_less((*ranks)[r]);
    const RankSummary& gone = (*ranks)[first_goes ? repeats[r] : r];
    const RankSummary& kept = (*ranks)[first_goes ? r : repeats[r]];
    left_out[first_goes ? repeats[r] : r] = 1;
    LeaveOut(gone,
             fmt::format("{} is the same capture as {}: its kernels begin and end at the same "
                         "times. It is left out",
                         gone.path, kept.path),
             parts);
  }
  KeepOthers(left_out, ranks);
}

// Windows of one program that a profiler wrote one after the other: the longest is judged.
void LeaveOutOtherWindows(const Knowledge& knowledge, std::vector<RankSummary>* ranks,
                          std::vector<Part>* parts) {
  const std::vector<std::uint32_t> others = OtherWindows(*ranks, knowledge);
  std::vector<std::uint8_t> left_out(ranks->size(), 0);
  for (std::size_t r = 0; r < ranks->size(); ++r) {
    if (others[r] == kNone) continue;
    left_out[r] = 1;
    const auto [kept, gone] = ShortPaths((*ranks)[others[r]].path, (*ranks)[r].path);
    LeaveOut((*ranks)[r],
             fmt::format("{} shows the same process as {}, not another rank, and is left out: "
                         "analyze it by itself, or compare the two",
                         gone, kept),
             parts);
  }
  KeepOthers(left_out, ranks);
}

// What a report says of its rank among others, it says without them: nothing was found so.
void Forget(const std::set<std::string>& rules, Finding* finding) {
  for (std::vector<std::string>* list :
       {&finding->explains, &finding->explained_by, &finding->makes_needless, &finding->unlocks}) {
    std::erase_if(*list, [&](const std::string& id) { return rules.contains(id); });
  }
}

// What each part found about its own ranks.
std::vector<ReportFindings> TakeFindings(const Cluster& cluster, std::vector<Part>* parts) {
  std::vector<ReportFindings> findings(parts->size());
  for (std::size_t r = 0; r < cluster.ranks.size(); ++r) {
    findings[cluster.ranks[r].report].ranks.push_back(r);
  }
  for (std::size_t i = 0; i < parts->size(); ++i) {
    Part& part = (*parts)[i];
    if (!part.saved || !part.left_out.empty()) continue;
    findings[i].part = i;
    findings[i].supports_verdict = part.saved->report.no_verdict_reason.empty();
    std::set<std::string> about_ranks;
    for (Finding& finding : part.saved->report.findings) {
      if (AboutRanks(*finding.rule)) {
        about_ranks.insert(finding.rule->id);
      } else {
        findings[i].findings.push_back(std::move(finding));
      }
    }
    for (Finding& finding : findings[i].findings) Forget(about_ranks, &finding);
  }
  return findings;
}

// "run.sqlite", or "run.sqlite (rank 2)" where several ranks are in it.
std::string SourceOf(const Cluster& cluster, const std::vector<Part>& parts, std::size_t i) {
  const std::vector<InputInfo>& inputs = parts[i].saved->report.inputs;
  if (inputs.empty()) return "";
  const auto of_file = std::count_if(parts.begin(), parts.end(),
                                     [&](const Part& part) { return part.path == parts[i].path; });
  const auto rank = std::find_if(cluster.ranks.begin(), cluster.ranks.end(),
                                 [&](const RankSummary& one) { return one.report == i; });
  if (of_file < 2 || rank == cluster.ranks.end()) return inputs.front().path;
  const auto r = static_cast<std::size_t>(rank - cluster.ranks.begin());
  return fmt::format("{} ({})", inputs.front().path, cluster.Label(r));
}

// Adds to the verdicts about ranks, for each rule about single ranks, the one that says most: where
// it was kept, that of the part that the finding has its words from (RankRun).
void AddVerdicts(const Cluster& cluster, const std::vector<Finding>& findings,
                 std::vector<Part>* parts, std::vector<Verdict>* verdicts) {
  std::map<const RuleInfo*, std::size_t> words_of;
  for (const Finding& finding : findings) {
    if (finding.part) words_of[finding.rule] = *finding.part;
  }
  struct Best {
    Verdict* verdict = nullptr;
    std::pair<int, bool> order;
    std::size_t part = 0;
  };
  std::map<std::string, Best> best;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    Part& part = (*parts)[i];
    if (!part.saved) continue;
    for (Verdict& verdict : part.saved->report.verdicts) {
      if (AboutRanks(*verdict.rule)) continue;
      const auto words = words_of.find(verdict.rule);
      const std::pair order(Weight(verdict.outcome), words != words_of.end() && words->second == i);
      Best& known = best[verdict.rule->id];
      if (known.verdict == nullptr || order > known.order) known = {&verdict, order, i};
    }
  }
  for (auto& [id, known] : best) {
    known.verdict->source = SourceOf(cluster, *parts, known.part);
    verdicts->push_back(std::move(*known.verdict));
  }
  std::stable_sort(verdicts->begin(), verdicts->end(),
                   [](const Verdict& a, const Verdict& b) { return a.rule->id < b.rule->id; });
}

// How a rank is told from the others of its report.
RankInReport InReport(const Cluster& cluster, std::size_t r) {
  const RankSummary& rank = cluster.ranks[r];
  RankInReport place{.pid = rank.pid, .device = rank.device};
  for (std::size_t other = 0; other < cluster.ranks.size(); ++other) {
    if (other == r || cluster.ranks[other].path != rank.path) continue;
    place.is_only_one = false;
    if (cluster.ranks[other].pid == rank.pid) place.is_only_of_process = false;
  }
  return place;
}

// What is said of ranks together points into the report of one: its kernels at that time.
void AddChecks(const std::vector<Part>& parts, const Cluster& cluster, Evidence* item) {
  if (!item->sql.empty() || !item->find.empty() || item->end_ns <= item->start_ns) return;
  for (std::size_t r = 0; r < cluster.ranks.size(); ++r) {
    const RankSummary& rank = cluster.ranks[r];
    if (rank.path != item->source || !item->what.ends_with(cluster.Label(r))) continue;
    const std::vector<InputInfo>& inputs = parts[rank.report].saved->report.inputs;
    if (inputs.empty() || !inputs.front().producer.starts_with("nsys")) continue;
    LookUp kernels = KernelsOfRank(InReport(cluster, r), {item->start_ns, item->end_ns});
    item->table = std::move(kernels.table);
    item->sql = std::move(kernels.sql);
  }
}

}  // namespace

std::string DayOfRanks(const std::vector<RankSummary>& ranks) {
  for (const RankSummary& rank : ranks) {
    if (rank.utc_origin_ns > 0) return DayOf(rank.utc_origin_ns);
  }
  return "";
}

Result<Judgment> JoinParts(const Session& session, const DiagnoseOptions& options,
                           std::vector<Part>* parts) {
  std::vector<RankSummary> ranks = TakeRanks(parts);
  const std::string mixed = DifferentRuns(ranks, *session.knowledge);
  if (!mixed.empty()) {
    return Fail("the reports are of different runs: " + mixed, "",
                "give the reports of one run, or analyze each by itself");
  }
  LeaveOutRepeated(&ranks, parts);
  LeaveOutOtherWindows(*session.knowledge, &ranks, parts);
  LeaveOutDuplicates(&ranks, parts);
  Judgment joined{Cluster(std::move(ranks), *session.knowledge), nullptr, {}, {}, {}};
  const Cluster& cluster = joined.ranks;
  joined.facts = MakeRunFacts(cluster, *session.knowledge);
  if (options.progress) options.progress("judging");
  joined.verdicts =
      RunRules(session, options, Asked::kAboutRanks, *joined.facts, DayOfRanks(cluster.ranks));
  if (options.progress) options.progress("ranking");
  std::vector<ReportFindings> findings = TakeFindings(cluster, parts);
  TellTransit(cluster, *session.knowledge, *parts, &findings);
  joined.findings = RankRun(joined.verdicts, findings, cluster, *session.knowledge, options.fixes);
  for (Finding& finding : joined.findings) {
    for (Evidence& item : finding.evidence) AddChecks(*parts, cluster, &item);
  }
  AddVerdicts(cluster, joined.findings, parts, &joined.verdicts);
  return joined;
}

}  // namespace advise
