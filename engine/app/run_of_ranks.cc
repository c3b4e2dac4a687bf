#include "engine/app/run_of_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include "engine/advice/rank_run.h"
#include "engine/app/merge_work.h"
#include "engine/app/processes.h"
#include "engine/app/run_summary.h"
#include "engine/app/run_views.h"
#include "engine/app/session.h"
#include "engine/app/side_inputs.h"
#include "engine/app/summary.h"
#include "engine/cluster/cluster.h"
#include "engine/facts/catalog.h"
#include "engine/import/importer.h"
#include "engine/store/facts_file.h"

namespace advise {
namespace {

enum class FileKind : std::uint8_t { kTimeline, kFacts, kSide };

FileKind KindOf(const std::string& path) {
  if (IsFactsFileAt(path)) return FileKind::kFacts;
  const std::string_view importer = ImporterNameOf(path);
  // What no importer knows is read like a report: the reader says what is wrong with it.
  const bool timeline =
      importer.empty() || importer.starts_with("nsys") || importer.starts_with("kineto");
  return timeline ? FileKind::kTimeline : FileKind::kSide;
}

struct Part {
  std::string path;
  FileKind kind = FileKind::kTimeline;
  std::optional<SavedReport> saved;
  std::optional<Error> error;
  std::set<std::string> took;  // see SideInputs::Join
};

FindRuleInfo RuleFinder(const Session& session) {
  return [&session](const std::string& id) { return session.rules.Find(id); };
}

// Reads and judges one file.
void ReadPart(const Session& session, const DiagnoseOptions& options, const WindowRequest& window,
              const SideInputs& sides, bool is_first, Part* part) {
  if (part->kind == FileKind::kFacts) {
    Result<SavedReport> saved = ReadFactsFile(part->path, RuleFinder(session));
    if (!saved) {
      part->error = saved.error();
      return;
    }
    Report& report = saved->report;
    const InputInfo first = report.inputs.empty() ? InputInfo() : report.inputs.front();
    report.inputs = {{part->path, "facts", first.producer, first.rank, first.host}};
    std::erase_if(report.findings, [&](const Finding& f) { return !Chosen(*f.rule, options); });
    std::erase_if(report.verdicts, [&](const Verdict& v) { return !Chosen(*v.rule, options); });
    for (std::size_t i = 0; i < report.findings.size(); ++i) {
      report.findings[i].rank = static_cast<int>(i + 1);
    }
    part->saved = std::move(*saved);
    return;
  }
  const int readers = options.reports.size() > 1 ? 1 : options.jobs;
  Result<Trace> trace = ImportReport(part->path, ImportOptions{readers});
  if (!trace) {
    part->error = trace.error();
    return;
  }
  std::vector<InputFile> inputs = {
      {trace->path, trace->kind, trace->producer, trace->host, trace->rank}};
  part->took = sides.Join(is_first, &*trace);
  if (is_first) inputs.insert(inputs.end(), sides.inputs().begin(), sides.inputs().end());
  Result<SavedReport> saved = JudgeTrace(session, options, window, *trace, inputs);
  if (!saved) {
    part->error = saved.error();
    return;
  }
  part->saved = std::move(*saved);
}

// Parts are dealt to processes in turn. Those other than 0 hand in what they have and end.
void Collect(const Session& session, std::vector<Part>* parts) {
  const Processes& processes = Processes::All();
  Sections own;
  for (std::size_t i = 0; i < parts->size(); ++i) {
    const Part& part = (*parts)[i];
    const std::string number = std::to_string(i);
    if (part.error) {
      own.emplace_back("what " + number, part.error->what);
      own.emplace_back("where " + number, part.error->where);
      own.emplace_back("hint " + number, part.error->hint);
    } else if (part.saved) {
      own.emplace_back("saved " + number, Pack(Encode(*part.saved)));
    }
    for (const std::string& gpu : part.took) own.emplace_back("took " + number, gpu);
  }
  const std::vector<std::string> all = processes.Gather(Pack(own));
  if (processes.number() > 0) throw PartHandedIn();
  for (std::size_t process = 1; process < all.size(); ++process) {
    const Result<Sections> sections = Unpack(all[process]);
    if (!sections) continue;
    for (const auto& [name, bytes] : *sections) {
      const std::size_t space = name.find(' ');
      Part& part = (*parts)[std::stoul(name.substr(space + 1))];
      const std::string what = name.substr(0, space);
      if (what == "took") {
        part.took.insert(bytes);
        continue;
      }
      if (what != "saved" && !part.error) part.error = Error();
      if (what == "what") part.error->what = bytes;
      if (what == "where") part.error->where = bytes;
      if (what == "hint") part.error->hint = bytes;
      if (what != "saved") continue;
      Result<Sections> inner = Unpack(bytes);
      if (!inner) {
        part.error = inner.error();
        continue;
      }
      Result<SavedReport> saved = Decode(*inner, RuleFinder(session), part.path);
      if (saved) {
        part.saved = std::move(*saved);
      } else {
        part.error = saved.error();
      }
    }
  }
  for (Part& part : *parts) {
    if (!part.saved && !part.error) part.error = Error{"another process lost it", part.path, ""};
  }
}

void ReadAll(const Session& session, const DiagnoseOptions& options, const WindowRequest& window,
             const SideInputs& sides, std::vector<Part>* parts) {
  const auto first = std::find_if(parts->begin(), parts->end(), [](const Part& part) {
    return part.kind == FileKind::kTimeline;
  });
  std::atomic<std::size_t> next{0};
  std::atomic<std::size_t> done{0};
  std::mutex progress;
  DiagnoseOptions quiet = options;
  quiet.progress = nullptr;
  const auto work = [&] {
    for (std::size_t i = next++; i < parts->size(); i = next++) {
      if (static_cast<int>(i) % Processes::All().count() != Processes::All().number()) continue;
      Part& part = (*parts)[i];
      const bool is_first = first != parts->end() && &part == &*first;
      ReadPart(session, quiet, window, sides, is_first, &part);
      if (i > 0 && part.saved) TrimViews(&part.saved->report);
      const std::size_t ready = ++done;
      if (!options.progress) continue;
      const std::lock_guard<std::mutex> lock(progress);
      options.progress(fmt::format("{} of {} reports", ready, parts->size()));
    }
  };
  std::vector<std::thread> threads;
  const auto jobs =
      std::min<std::size_t>(static_cast<std::size_t>(std::max(1, options.jobs)), parts->size());
  for (std::size_t t = 1; t < jobs; ++t) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

// The first report says what of the files beside the reports none of them took.
void SayLeftOut(const SideInputs& sides, std::vector<Part>* parts) {
  bool any_timeline = false;
  std::set<std::string> taken;
  for (const Part& part : *parts) {
    any_timeline = any_timeline || part.kind == FileKind::kTimeline;
    taken.insert(part.took.begin(), part.took.end());
  }
  const auto first = std::find_if(parts->begin(), parts->end(),
                                  [](const Part& part) { return part.saved.has_value(); });
  if (first == parts->end()) return;
  for (Diagnostic& left : sides.LeftOut(any_timeline, taken)) {
    first->saved->report.diagnostics.push_back(std::move(left));
  }
}

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
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      Part& part = parts_[i];
      if (!part.saved) continue;
      std::uint32_t most = 0;
      for (RankSummary& rank : part.saved->ranks) {
        rank.report = static_cast<std::uint32_t>(i);
        most = std::max(most, rank.clock);
        rank.clock += clocks;
        ranks.push_back(std::move(rank));
      }
      clocks += most + 1;
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
      if (!parts_[i].saved || left_out_.count(static_cast<std::uint32_t>(i)) > 0) continue;
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
      if (parts_[i].saved && left_out_.count(static_cast<std::uint32_t>(i)) == 0)
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
    report->healthy = report->no_verdict_reason.empty() &&
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
              "select start, \"end\", \"end\" - start from {} where deviceId = {} and start < {} "
              "and "
              "\"end\" > {};",
              item.table, rank.device, item.end_ns, item.start_ns);
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

bool NeedsReduction(const std::vector<std::string>& files) {
  std::size_t timelines = 0;
  for (const std::string& file : files) {
    const FileKind kind = KindOf(file);
    if (kind == FileKind::kFacts) return true;
    timelines += kind == FileKind::kTimeline ? 1 : 0;
  }
  return timelines > 1;
}

Result<SavedReport> DiagnoseRun(const Session& session, const DiagnoseOptions& options,
                                const WindowRequest& window) {
  std::vector<Part> parts;
  std::vector<std::string> side_files;
  for (const std::string& file : options.reports) {
    const FileKind kind = KindOf(file);
    if (kind == FileKind::kSide) {
      side_files.push_back(file);
    } else {
      parts.push_back({file, kind, std::nullopt, std::nullopt, {}});
    }
  }
  const Result<SideInputs> sides = SideInputs::Read(side_files);
  if (!sides) return tl::unexpected(sides.error());
  ReadAll(session, options, window, *sides, &parts);
  if (Processes::All().many()) Collect(session, &parts);
  SayLeftOut(*sides, &parts);
  const auto readable = std::count_if(parts.begin(), parts.end(),
                                      [](const Part& part) { return part.saved.has_value(); });
  if (readable == 0) return tl::unexpected(*parts.front().error);
  if (parts.size() == 1) {
    SavedReport saved = std::move(*parts.front().saved);
    if (options.window != "auto" || !options.gpu.empty()) {
      saved.report.diagnostics.push_back(
          {Level::kWarning,
           "a facts file keeps the window and the GPU that it was written with: --window and --gpu "
           "change nothing",
           "", 1});
    }
    if (options.draw && saved.report.views == nullptr) {
      const Cluster cluster(saved.ranks, *session.knowledge);
      saved.report.views = MergeViews({}, cluster, saved.report);
    }
    return saved;
  }
  return RunJudge(session, options, &parts).Judge();
}

}  // namespace advise
