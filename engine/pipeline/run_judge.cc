#include "engine/pipeline/run_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/advice/rank_run.h"
#include "engine/cluster/cluster.h"
#include "engine/facts/catalog.h"
#include "engine/pipeline/merge_work.h"
#include "engine/pipeline/run_summary.h"
#include "engine/pipeline/run_views.h"
#include "engine/pipeline/summary.h"

namespace advise {
namespace {

int Weight(Outcome outcome) {
  switch (outcome) {
    case Outcome::kBroken:
      return 4;
    case Outcome::kFired:
      return 3;
    case Outcome::kFine:
      return 2;
    case Outcome::kNotApplicable:
      return 1;
    default:
      return 0;
  }
}

class RunJudge {
 public:
  RunJudge(const Session& session, const DiagnoseOptions& options, std::vector<Part>* parts)
      : session_(session), options_(options), parts_(*parts) {}

  Result<SavedReport> Judge() {
    std::vector<RankSummary> ranks;
    std::uint32_t clocks = 0;
    std::map<std::string, std::uint32_t> clock_of;  // parts of one report share its clock
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (!part.saved) continue;
      const std::uint32_t first = clock_of.try_emplace(part.path, clocks).first->second;
      for (RankSummary& rank : part.saved->ranks) {
        rank.report = static_cast<std::uint32_t>(i);
        rank.clock += first;
        clocks = std::max(clocks, rank.clock + 1);
        ranks.push_back(std::move(rank));
      }
    }
    const std::string mixed = DifferentRuns(ranks);
    if (!mixed.empty()) {
      return Fail("the reports are of different runs: " + mixed, "",
                  "name the reports of one run, or look at each by itself");
    }
    LeaveOutDuplicates(&ranks);
    Cluster cluster(std::move(ranks), *session_.knowledge);
    SavedReport saved;
    Fill(cluster, &saved.report);
    saved.ranks = std::move(cluster.ranks);
    return saved;
  }

 private:
  // Two reports that claim the same rank: one of them is of another run, or is an earlier capture.
  void LeaveOutDuplicates(std::vector<RankSummary>* ranks) {
    std::map<int, std::string> seen;
    std::vector<RankSummary> kept;
    for (RankSummary& rank : *ranks) {
      if (rank.rank >= 0) {
        const auto [at, added] = seen.try_emplace(rank.rank, rank.path);
        if (!added && at->second != rank.path) {
          notes_.push_back(
              fmt::format("{} and {} both say that they are rank {} ({}): the second is left out",
                          at->second, rank.path, rank.rank, rank.rank_source));
          left_out_.insert(rank.report);
          continue;
        }
      }
      kept.push_back(std::move(rank));
    }
    *ranks = std::move(kept);
  }

  void Fill(const Cluster& cluster, Report* report) {
    const Knowledge& knowledge = *session_.knowledge;
    const std::unique_ptr<Facts> facts = MakeRunFacts(cluster);
    Stage("judging");
    std::vector<Verdict> together;
    for (Verdict& verdict : JudgeRules(session_, options_, *facts, "")) {
      if (AboutRanks(*verdict.rule)) together.push_back(std::move(verdict));
    }
    std::vector<ReportFindings> findings(parts_.size());
    for (std::size_t r = 0; r < cluster.ranks.size(); ++r) {
      findings[cluster.ranks[r].report].ranks.push_back(r);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].saved || left_out_.contains(static_cast<std::uint32_t>(i))) continue;
      Report& one = parts_[i].saved->report;
      findings[i].supports_verdict = one.no_verdict_reason.empty();
      for (Finding& finding : one.findings) {
        if (!AboutRanks(*finding.rule)) findings[i].findings.push_back(std::move(finding));
      }
    }
    Stage("ranking");
    report->findings = RankRun(together, findings, cluster, knowledge);
    AddChecks(cluster, &report->findings);
    report->verdicts = std::move(together);
    MergeVerdicts(report);

    report->tool_version = ADVISE_VERSION;
    Inputs(cluster, report);
    Budgets(cluster, report);
    report->window.mode = "all";
    for (const Part& part : parts_) {
      if (part.saved && part.saved->report.window.mode != "all") {
        report->window.mode = part.saved->report.window.mode;
        break;
      }
    }
    report->window.start_ns = cluster.job.start;
    report->window.end_ns = cluster.job.start + cluster.job.Window();
    for (const FactInfo& info : FactList()) {
      if (const Fact* fact = facts->Find(info.name)) report->facts.push_back({info, *fact, "run"});
    }
    for (const Part& part : parts_) {
      if (part.saved) report->work_digest += part.saved->report.work_digest;  // in any order
    }
    std::vector<const Report*> singles;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (parts_[i].saved && !left_out_.contains(static_cast<std::uint32_t>(i)))
        singles.push_back(&parts_[i].saved->report);
    }
    MergeWork(singles, cluster.job.has_steps ? cluster.job.job_length : std::vector<Nanos>(),
              report);
    if (cluster.job.has_steps) {
      report->step_count = static_cast<int>(cluster.job.steps);
      report->step_median_ns = Median(cluster.job.job_length);
      report->steps_source = cluster.ranks.front().steps_source;
    }
    Support(cluster, report);
    Nanos compute = 0, idle = 0, all = 0;
    for (const RankSummary& rank : cluster.ranks) {
      compute += rank.time.compute;
      idle += rank.time.idle;
      all += rank.Window();
    }
    report->healthy = report->no_verdict_reason.empty() &&
                      GpusWorkWell(compute, idle, all, knowledge) &&
                      std::none_of(report->findings.begin(), report->findings.end(),
                                   [](const Finding& f) { return f.severity != Severity::kInfo; });
    FillRanks(*facts, report);
    report->verdict = RunVerdictSentence(cluster, *report);
    Care(cluster, report);
    FillNotChecked(report->verdicts, knowledge,
                   report->inputs.empty() ? "" : report->inputs.front().kind, report);
    report->site_changes = knowledge.SiteChanges();
    std::vector<PartViews> views;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].saved || parts_[i].saved->report.views == nullptr) continue;
      if (findings[i].ranks.empty()) continue;
      views.push_back({cluster.Label(findings[i].ranks.front()), parts_[i].saved->report.views});
    }
    if (options_.draw) report->views = MergeViews(views, cluster, *report);
  }

  // The condition that selects a rank's kernels in its report. Where that holds several ranks, each
  // process may call its GPU 0, so that processes tell them apart (the packed id holds the
  // process's own number), and GPUs those of one process.
  static std::string KernelsOf(const Cluster& cluster, std::size_t r) {
    const RankSummary& rank = cluster.ranks[r];
    std::size_t in_report = 0, in_process = 0;
    for (const RankSummary& one : cluster.ranks) {
      if (one.path != rank.path) continue;
      ++in_report;
      if (one.pid == rank.pid) ++in_process;
    }
    std::string device = fmt::format("deviceId = {}", rank.device);
    if (in_report == 1 || rank.pid == 0) return device;
    const std::string process = fmt::format("globalPid / 16777216 % 16777216 = {}", rank.pid);
    return in_process == 1 ? process : process + " and " + device;
  }

  // What is said of ranks together points into the report of one: its kernels at that time.
  void AddChecks(const Cluster& cluster, std::vector<Finding>* list) const {
    for (Finding& finding : *list) {
      for (Evidence& item : finding.evidence) {
        if (!item.sql.empty() || !item.find.empty() || item.end_ns <= item.start_ns) continue;
        for (std::size_t r = 0; r < cluster.ranks.size(); ++r) {
          const RankSummary& rank = cluster.ranks[r];
          if (rank.path != item.source || !item.what.ends_with(cluster.Label(r))) continue;
          const std::vector<InputInfo>& inputs = parts_[rank.report].saved->report.inputs;
          if (inputs.empty() || !inputs.front().producer.starts_with("nsys")) continue;
          item.table = "CUPTI_ACTIVITY_KIND_KERNEL";
          item.sql = fmt::format(
              "select start, \"end\", \"end\" - start from {} where {} and start < {} and \"end\" "
              "> {};",
              item.table, KernelsOf(cluster, r), item.end_ns, item.start_ns);
        }
      }
    }
  }

  // Of each rule that judges single reports, the verdict that says most.
  void MergeVerdicts(Report* report) {
    std::map<std::string, Verdict*> best;
    for (Part& part : parts_) {
      if (!part.saved) continue;
      for (Verdict& verdict : part.saved->report.verdicts) {
        if (AboutRanks(*verdict.rule)) continue;
        Verdict*& known = best[verdict.rule->id];
        if (known == nullptr || Weight(verdict.outcome) > Weight(known->outcome)) known = &verdict;
      }
    }
    for (auto& [id, verdict] : best) report->verdicts.push_back(std::move(*verdict));
    std::stable_sort(report->verdicts.begin(), report->verdicts.end(),
                     [](const Verdict& a, const Verdict& b) { return a.rule->id < b.rule->id; });
  }

  void Inputs(const Cluster& cluster, Report* report) const {
    std::map<std::uint32_t, int> rank_of;
    for (std::size_t r = cluster.ranks.size(); r-- > 0;) {
      rank_of[cluster.ranks[r].report] = cluster.Number(r);
    }
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].saved) continue;
      for (InputInfo input : parts_[i].saved->report.inputs) {
        const auto rank = rank_of.find(static_cast<std::uint32_t>(i));
        if (rank != rank_of.end()) input.rank = rank->second;
        report->inputs.push_back(std::move(input));
      }
    }
  }

  static void Budgets(const Cluster& cluster, Report* report) {
    for (std::size_t r = 0; r < cluster.ranks.size(); ++r) {
      const RankSummary& rank = cluster.ranks[r];
      DeviceBudget budget;
      budget.rank = cluster.Number(r);
      budget.device = rank.device;
      budget.name = rank.device_name;
      budget.compute_ns = rank.time.compute;
      budget.comm_exposed_ns = rank.time.comm_exposed;
      budget.copy_exposed_ns = rank.time.copy_exposed;
      budget.memset_exposed_ns = rank.time.memset_exposed;
      budget.idle_ns = rank.time.idle;
      budget.window_ns = rank.Window();
      for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
        budget.idle_causes.emplace_back(IdleCauseName(static_cast<IdleCause>(c)),
                                        rank.time.causes[c]);
      }
      report->devices.push_back(std::move(budget));
    }
  }

  void Support(const Cluster& cluster, Report* report) const {
    const bool any = std::any_of(cluster.ranks.begin(), cluster.ranks.end(),
                                 [](const RankSummary& r) { return r.supports_verdict; });
    for (const Part& part : parts_) {
      if (any || !part.saved || !report->no_verdict_reason.empty()) continue;
      report->no_verdict_reason = part.saved->report.no_verdict_reason;
    }
    if (!any && report->no_verdict_reason.empty()) {
      report->no_verdict_reason = "no GPU activity was recorded";
    }
  }

  // Notes of the run first, then those of single reports, each once.
  void Care(const Cluster& cluster, Report* report) {
    for (const Part& part : parts_) {
      if (!part.error) continue;
      report->unreadable.push_back(part.error->Line());
      report->diagnostics.push_back(
          {Level::kError, "a report was left out: " + part.error->Line(), "", 1});
    }
    report->read_with_care = notes_;
    report->read_with_care.insert(report->read_with_care.end(), cluster.notes.begin(),
                                  cluster.notes.end());
    std::vector<std::pair<std::string, std::size_t>> said;
    std::size_t read = 0;
    Diagnostics diagnostics;
    for (const Part& part : parts_) {
      if (!part.saved) continue;
      ++read;
      for (const std::string& note : part.saved->report.read_with_care) {
        const auto known = std::find_if(said.begin(), said.end(),
                                        [&](const auto& one) { return one.first == note; });
        if (known == said.end()) {
          said.emplace_back(note, 1);
        } else {
          ++known->second;
        }
      }
      for (const Diagnostic& d : part.saved->report.diagnostics) {
        diagnostics.Add(d.level, d.text, d.table, d.count);
      }
    }
    for (const auto& [note, times] : said) {
      report->read_with_care.push_back(
          times == read ? note : fmt::format("{} (in {} of {} reports)", note, times, read));
    }
    for (const Diagnostic& d : diagnostics.list()) report->diagnostics.push_back(d);
    for (const std::string& note : notes_) {
      report->diagnostics.push_back({Level::kWarning, note, "", 1});
    }
    for (const std::string& note : cluster.notes) {
      report->diagnostics.push_back({Level::kWarning, note, "", 1});
    }
  }

  void Stage(const char* name) const {
    if (options_.progress) options_.progress(name);
  }

  const Session& session_;
  const DiagnoseOptions& options_;
  std::vector<Part>& parts_;
  std::vector<std::string> notes_;
  std::set<std::uint32_t> left_out_;
};

}  // namespace

Result<SavedReport> JudgeRun(const Session& session, const DiagnoseOptions& options,
                             std::vector<Part>* parts) {
  return RunJudge(session, options, parts).Judge();
}

}  // namespace advise
