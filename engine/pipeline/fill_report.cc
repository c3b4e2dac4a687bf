#include "engine/pipeline/fill_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "engine/advice/plan.h"
#include "engine/advice/run_terms.h"
#include "engine/base/ascii.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/catalog.h"
#include "engine/pipeline/answer.h"
#include "engine/pipeline/care_notes.h"
#include "engine/pipeline/merge_work.h"
#include "engine/pipeline/next_step.h"
#include "engine/pipeline/not_checked.h"
#include "engine/pipeline/side_sentence.h"
#include "engine/pipeline/verdict_sentence.h"

namespace advise {
namespace {

DeviceBudget BudgetOf(const RankTime& time, const UnseenTime& unseen, Nanos window) {
  DeviceBudget budget;
  budget.unseen = unseen;
  budget.compute_ns = time.compute;
  budget.comm_exposed_ns = time.comm_exposed;
  budget.copy_exposed_ns = time.copy_exposed;
  budget.memset_exposed_ns = time.memset_exposed;
  budget.idle_ns = time.idle;
  budget.window_ns = window;
  for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
    budget.idle_causes.emplace_back(WordsOf(static_cast<IdleCause>(c)).name, time.causes[c]);
  }
  return budget;
}

// The rank that the trace gives the processes of a device; 0 when it does not say.
int RankOfDevice(const Trace& trace, std::uint32_t device) {
  int rank = 0;
  for (const Stream& stream : trace.streams) {
    if (stream.device != device || stream.process == kNone) continue;
    if (trace.processes[stream.process].rank >= 0) rank = trace.processes[stream.process].rank;
  }
  return rank;
}

// Of when each op begins after the first, and how long it lasts.
std::uint64_t WorkDigest(const OpTable& ops) {
  if (ops.size() == 0) return 0;
  Fnv1a hash;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    hash.Add(static_cast<std::uint64_t>(ops.start[i] - ops.start.front()));
    hash.Add(static_cast<std::uint64_t>(ops.end[i] - ops.start[i]));
  }
  return hash.value();
}

// The report keeps values: the facts themselves die with the diagnosis.
void FillFacts(const std::vector<FactInfo>& list, const Facts& facts, Report* report) {
  for (const FactInfo& info : list) {
    if (const Fact* fact = facts.Find(info.name)) report->facts.push_back({&info, *fact});
  }
}

void FillRanks(Report* report) {
  const auto number = [&](const char* name) { return FactNumber(*report, name).value_or(0); };
  const auto whole = [&](const char* name) { return static_cast<int>(number(name)); };
  if (whole("cluster.ranks") < 2) return;
  RanksInfo& ranks = report->ranks;
  ranks.ranks = whole("cluster.ranks");
  ranks.reports = whole("cluster.reports");
  ranks.hosts = whole("cluster.hosts");
  ranks.processes = whole("cluster.processes");
  ranks.steps = whole("cluster.steps");
  ranks.parallel = number("cluster.efficiency.parallel");
  ranks.load_balance = number("cluster.efficiency.load_balance");
  ranks.communication = number("cluster.efficiency.communication");
  ranks.orchestration = number("cluster.efficiency.orchestration");
  const double window = std::max(1.0, number("cluster.window"));
  ranks.waited = number("cluster.waited") / window;
  ranks.transfer = number("cluster.transfer") / window;
}

// Parts by the number of the first of their ranks.
void FillInputs(const std::vector<Part>& parts, const Cluster& ranks, Report* report) {
  std::map<std::uint32_t, int> rank_of;
  for (std::size_t r = ranks.ranks.size(); r-- > 0;) {
    rank_of[ranks.ranks[r].report] = ranks.Number(r);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].saved) continue;
    for (InputInfo input : parts[i].saved->report.inputs) {
      const auto rank = rank_of.find(static_cast<std::uint32_t>(i));
      if (rank != rank_of.end()) input.rank = rank->second;
      report->inputs.push_back(std::move(input));
    }
  }
}

void FillTimes(const std::vector<Part>& parts, const Cluster& ranks, Report* report) {
  report->window = {"all", ranks.job.start, ranks.job.start + ranks.job.Window()};
  for (const Part& part : parts) {
    if (!part.saved || part.saved->report.window.mode == "all") continue;
    report->window.mode = part.saved->report.window.mode;
    break;
  }
  for (std::size_t r = 0; r < ranks.ranks.size(); ++r) {
    const RankSummary& rank = ranks.ranks[r];
    report->devices.push_back(BudgetOf(rank.time, rank.unseen, rank.Window()));
    DeviceBudget& budget = report->devices.back();
    budget.rank = ranks.Number(r);
    budget.device = rank.device;
    budget.name = rank.device_name;
  }
  if (ranks.job.has_steps) {
    report->step_count = static_cast<int>(ranks.job.steps);
    report->step_median_ns = Median(ranks.job.job_length);
    report->steps_source = ranks.ranks.front().steps_source;
  }
}

// Why no rank supports a verdict; "" when one does.
std::string NoVerdictReason(const std::vector<Part>& parts, const Cluster& ranks) {
  const bool any = std::any_of(ranks.ranks.begin(), ranks.ranks.end(),
                               [](const RankSummary& r) { return r.supports_verdict; });
  if (any) return "";
  for (const Part& part : parts) {
    if (part.saved && !part.saved->report.no_verdict_reason.empty())
      return part.saved->report.no_verdict_reason;
  }
  return "no GPU activity was recorded";
}

// A note of single reports.
struct SaidNote {
  CareNote note;  // as the first of them says it
  std::size_t times = 1;
  bool alike = true;  // with the same figures in all of them
};

// What a note says, whatever its figures.
std::string WithoutFigures(std::string text) {
  std::erase_if(text, [](char c) { return IsDigit(c) || c == '.'; });
  return text;
}

// Notes of the run first, then those of its parts, each once: those that differ in their figures
// alone are one.
void FillNotes(const std::vector<Part>& parts, const Cluster& ranks, Report* report) {
  std::vector<std::string> of_run;
  for (const Part& part : parts) {
    of_run.insert(of_run.end(), part.left_out.begin(), part.left_out.end());
  }
  of_run.insert(of_run.end(), ranks.notes.begin(), ranks.notes.end());
  std::vector<SaidNote> said;
  std::size_t read = 0;
  Diagnostics diagnostics;
  for (const Part& part : parts) {
    if (!part.saved) continue;
    ++read;
    for (const CareNote& note : part.saved->report.read_with_care) {
      if (note.care == Care::kSomeRanks) continue;  // the run says which are missing
      const auto known = std::find_if(said.begin(), said.end(), [&](const SaidNote& one) {
        return WithoutFigures(one.note.text) == WithoutFigures(note.text);
      });
      if (known == said.end()) {
        said.push_back({note});
      } else {
        ++known->times;
        known->alike = known->alike && known->note.text == note.text;
      }
    }
    for (const Diagnostic& d : part.saved->report.diagnostics) {
      diagnostics.Add(d.level, d.text, d.table, d.count);
    }
  }
  for (const std::string& note : of_run) report->read_with_care.push_back({Care::kOther, note});
  for (auto& [note, times, alike] : said) {
    const std::string where = times == read ? fmt::format("in all {} reports", read)
                                            : fmt::format("in {} of {} reports", times, read);
    if (!alike) {
      note.text += fmt::format(" ({}; the figures are those of the first)", where);
    } else if (times != read) {
      note.text += fmt::format(" ({})", where);
    }
    report->read_with_care.push_back(note);
  }
  for (const Diagnostic& d : diagnostics.list()) report->diagnostics.push_back(d);
  for (const std::string& note : of_run) {
    report->diagnostics.push_back({Level::kWarning, note, "", 1});
  }
}

// A GPU that the report does not name is called what the reader called it, as profilers spell it.
std::string NameOfDevice(const Analysis& analysis, std::uint32_t device) {
  const std::string& recorded = analysis.run.trace.devices[device].name;
  const std::string& given = analysis.hardware.name;
  if (!recorded.empty() || given.empty()) return recorded;
  const HardwareEntry* entry = analysis.run.knowledge.FindHardware(given);
  return entry == nullptr ? given : entry->DisplayName();
}

}  // namespace

Report ReportOfTrace(const Analysis& analysis, const std::vector<FactInfo>& list,
                     const Facts& facts, const std::vector<InputInfo>& inputs) {
  const Run& run = analysis.run;
  const Trace& trace = run.trace;
  Report report;
  report.inputs = inputs;
  report.window = {run.window.mode, run.window.start, run.window.end};
  for (const std::uint32_t d : run.active_devices) {
    report.devices.push_back(
        BudgetOf(TimeInWindow(analysis, d), analysis.unseen.by_device[d], run.window.Length()));
    DeviceBudget& budget = report.devices.back();
    budget.rank = RankOfDevice(trace, d);
    budget.device = static_cast<int>(trace.devices[d].ordinal);
    budget.name = NameOfDevice(analysis, d);
  }
  if (!trace.HasTimeline()) {
    for (const Device& device : trace.devices) report.gpus.push_back(SafeText(device.name));
  }
  FillFacts(list, facts, &report);
  report.step_count = run.steps.known() ? static_cast<int>(run.steps.steady_count()) : 0;
  report.step_median_ns = run.steps.Median();
  report.steps_source = run.steps.source;
  report.work_digest = WorkDigest(trace.ops);
  if (!analysis.support.verdict) report.no_verdict_reason = analysis.support.reason;
  report.verdict = SentenceWithoutGpuWork(analysis);
  report.read_with_care = ReadWithCare(analysis);
  for (const Diagnostic& d : trace.diagnostics.list()) report.diagnostics.push_back(d);
  return report;
}

Report ReportOfParts(const std::vector<Part>& parts, const Cluster& ranks,
                     const std::vector<FactInfo>& list, const Facts& facts) {
  Report report;
  FillInputs(parts, ranks, &report);
  FillTimes(parts, ranks, &report);
  FillFacts(list, facts, &report);
  std::vector<const Report*> singles;
  for (const Part& part : parts) {
    if (!part.saved) continue;
    report.work_digest += part.saved->report.work_digest;  // in any order
    if (part.left_out.empty()) singles.push_back(&part.saved->report);
  }
  MergeWork(singles, ranks.job.has_steps ? ranks.job.job_length : std::vector<Nanos>(), &report);
  report.no_verdict_reason = NoVerdictReason(parts, ranks);
  FillRunOfParts(singles, &report);
  FillNotes(parts, ranks, &report);
  return report;
}

void AddUnreadable(const std::vector<Part>& parts, Report* report) {
  std::vector<Diagnostic> lost;
  for (const Part& part : parts) {
    if (!part.error) continue;
    report->unreadable.push_back(part.error->Line());
    lost.push_back({Level::kError, "a report was left out: " + part.error->Line(), "", 1});
  }
  report->diagnostics.insert(report->diagnostics.begin(), lost.begin(), lost.end());
}

void Conclude(const Knowledge& knowledge, const std::string& day, const Cluster* ranks,
              Report* report) {
  report->tool_version = ADVISE_VERSION;
  FillRanks(report);
  if (report->run.kind.empty()) FillRun(report);
  report->run.all_ranks = report->ranks.ranks > 1 && !HasCare(*report, Care::kSomeRanks);
  FillLanguages(knowledge, report);
  report->healthy = IsHealthy(*report, knowledge);
  FillNotChecked(knowledge, report);
  UseTermsOfRun(report);
  FillPlan(report);
  FillNextStep(knowledge, report);
  const bool timeline = !report->inputs.empty() && (report->inputs.front().kind == "kineto" ||
                                                    report->inputs.front().kind == "nsys-sqlite");
  if (report->verdict.empty())
    report->verdict = VerdictSentence(*report, knowledge, ranks);
  else if (report->devices.empty() && !timeline)
    report->verdict = WithNextStep(std::move(report->verdict), *report);
  const bool priced = std::any_of(report->findings.begin(), report->findings.end(),
                                  [](const Finding& finding) { return finding.AtStake() > 0; });
  if (!priced) {
    std::erase_if(report->read_with_care,
                  [](const CareNote& note) { return note.care == Care::kCountedSavings; });
  }
  report->site_changes = knowledge.SiteChanges(day);
}

}  // namespace advise
