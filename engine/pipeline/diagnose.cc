#include "engine/pipeline/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <future>

#include "engine/advice/ranking.h"
#include "engine/base/text.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/catalog.h"
#include "engine/import/importer.h"
#include "engine/metrics/analysis.h"
#include "engine/pipeline/judge.h"
#include "engine/pipeline/processes.h"
#include "engine/pipeline/ranks_apart.h"
#include "engine/pipeline/run_inputs.h"
#include "engine/pipeline/run_of_ranks.h"
#include "engine/pipeline/run_summary.h"
#include "engine/pipeline/summary.h"

namespace advise {
namespace {

Result<WindowRequest> ParseWindow(const std::string& text) {
  WindowRequest request;
  if (text == "auto" || text.empty()) return request;
  if (text == "all" || text == "steady") {
    request.mode = text == "all" ? WindowRequest::Mode::kAll : WindowRequest::Mode::kSteady;
    return request;
  }
  const std::size_t colon = text.find(':');
  const auto number = [&text](std::size_t from, std::size_t to, double* value) {
    const char* end = text.data() + to;
    const auto [at, error] = std::from_chars(text.data() + from, end, *value);
    return error == std::errc() && at == end;
  };
  request.mode = WindowRequest::Mode::kGiven;
  if (colon == std::string::npos || !number(0, colon, &request.from_s) ||
      !number(colon + 1, text.size(), &request.to_s) || request.to_s <= request.from_s) {
    return Fail("'" + text + "' is no window", "--window",
                "all, steady, or A:B in seconds from the start of the trace");
  }
  return request;
}

void FillBudget(const Analysis& analysis, Report* report) {
  const Trace& trace = analysis.run.trace;
  for (const std::uint32_t d : analysis.run.active_devices) {
    const DeviceTime& time = analysis.times[d];
    DeviceBudget budget;
    for (const Stream& stream : trace.streams) {
      if (stream.device == d && stream.process != kNone &&
          trace.processes[stream.process].rank >= 0) {
        budget.rank = trace.processes[stream.process].rank;
      }
    }
    budget.device = static_cast<int>(trace.devices[d].ordinal);
    budget.name = trace.devices[d].name;
    budget.compute_ns = time.ComputeNs();
    budget.comm_exposed_ns = time.comm_exposed.Total();
    budget.copy_exposed_ns = time.copy_exposed.Total();
    budget.memset_exposed_ns = time.memset_exposed.Total();
    budget.idle_ns = time.idle.Total();
    budget.window_ns = analysis.run.window.Length();
    for (std::size_t c = 0; c < kIdleCauseCount; ++c) {
      budget.idle_causes.emplace_back(IdleCauseName(static_cast<IdleCause>(c)),
                                      analysis.idle.by_device[d][c]);
    }
    report->devices.push_back(std::move(budget));
  }
}

bool WorksWell(const Analysis& analysis) {
  Nanos idle = 0;
  Nanos compute = 0;
  for (const std::uint32_t d : analysis.run.active_devices) {
    idle += analysis.times[d].idle.Total();
    compute += analysis.times[d].ComputeNs();
  }
  return GpusWorkWell(compute, idle, analysis.basis().Device(), analysis.run.knowledge);
}

// FNV-1a over when each op begins after the first, and how long it lasts.
std::uint64_t WorkDigest(const OpTable& ops) {
  if (ops.size() == 0) return 0;
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  const auto add = [&hash](Nanos value) {
    hash ^= static_cast<std::uint64_t>(value);
    hash *= 0x100000001B3ULL;
  };
  for (std::size_t i = 0; i < ops.size(); ++i) {
    add(ops.start[i] - ops.start.front());
    add(ops.end[i] - ops.start[i]);
  }
  return hash;
}

// `facts` are kept by the report as values: the map itself dies with the diagnosis.
void FillFacts(const Facts& facts, Report* report) {
  for (const FactInfo& info : FactList()) {
    if (const Fact* fact = facts.Find(info.name)) report->facts.push_back({info, *fact, "run"});
  }
}

}  // namespace

bool Chosen(const RuleInfo& rule, const DiagnoseOptions& options) {
  const std::string area = rule.id.substr(0, rule.id.find('/'));
  const auto names = [&](const std::vector<std::string>& list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& n) { return n == rule.id || n == area; });
  };
  return (options.only.empty() || names(options.only)) && !names(options.skip);
}

Result<SavedReport> JudgeTrace(const Session& session, const DiagnoseOptions& options,
                               const WindowRequest& window, const Trace& trace,
                               const std::vector<InputFile>& inputs) {
  const auto stage = [&options](const char* name) {
    if (options.progress) options.progress(name);
  };
  std::optional<SavedReport> run;  // of a report that holds several ranks
  if (options.ranks_apart) run = JudgeRanksApart(session, options, window, trace, inputs);
  stage("measuring");
  const Knowledge& knowledge = *session.knowledge;
  const Analysis analysis(trace, knowledge, AnalysisOptions{window, options.gpu});
  if (window.mode == WindowRequest::Mode::kGiven && analysis.run.window.Length() == 0) {
    return Fail("no GPU work lies in the window " + options.window, trace.path,
                "seconds count from the start of the trace");
  }
  // Ranking asks the replay, which nothing needs before.
  std::future<void> replay;
  if (!run) replay = std::async(std::launch::async, [&] { analysis.replay(); });
  SavedReport saved;
  saved.ranks = run ? std::move(run->ranks) : SummarizeRanks(analysis);
  const std::unique_ptr<Facts> facts = MakeFacts(analysis, saved.ranks);

  Report& report = saved.report;
  const std::string day = DayOf(trace.utc_origin_ns);
  if (run) {
    report.verdicts = std::move(run->report.verdicts);
    report.findings = std::move(run->report.findings);
  } else {
    stage("judging");
    report.verdicts = JudgeRules(session, options, *facts, day);
    stage("ranking");
    replay.get();
    report.findings = Rank(report.verdicts, analysis, knowledge, &report.fates);
  }
  report.healthy = analysis.support.verdict && WorksWell(analysis) &&
                   std::none_of(report.findings.begin(), report.findings.end(),
                                [](const Finding& f) { return f.severity != Severity::kInfo; });
  report.tool_version = ADVISE_VERSION;
  for (const InputFile& input : inputs) {
    report.inputs.push_back(
        {input.path, input.kind, input.producer, std::max(input.rank, 0), input.host});
  }
  report.window = {analysis.run.window.mode, analysis.run.window.start, analysis.run.window.end};
  FillBudget(analysis, &report);
  if (!trace.HasTimeline()) {
    for (const Device& device : trace.devices) report.gpus.push_back(SafeText(device.name));
  }
  FillFacts(*facts, &report);
  FillRanks(*facts, &report);
  report.step_count =
      analysis.run.steps.known() ? static_cast<int>(analysis.run.steps.steady_count()) : 0;
  report.step_median_ns = analysis.run.steps.Median();
  report.steps_source = analysis.run.steps.source;
  report.work_digest = WorkDigest(trace.ops);
  if (!analysis.support.verdict) report.no_verdict_reason = analysis.support.reason;
  report.verdict = run && !report.healthy ? run->report.verdict : VerdictSentence(analysis, report);
  report.read_with_care = ReadWithCare(analysis);
  for (const Diagnostic& diagnostic : trace.diagnostics.list())
    report.diagnostics.push_back(diagnostic);
  FillNotChecked(report.verdicts, knowledge, trace.kind, &report);
  report.site_changes = knowledge.SiteChanges(day);
  if (options.inspect) options.inspect(analysis, &report);
  return saved;
}

std::vector<Verdict> JudgeRules(const Session& session, const DiagnoseOptions& options,
                                const Facts& facts, const std::string& day) {
  std::vector<Verdict> verdicts;
  // A rule is off up to a date: that of the capture, so that an old report reads the same tomorrow.
  const std::vector<SuppressedRule> off = session.knowledge->suppressed(day);
  for (const RuleInfo& rule : session.rules.rules()) {
    if (!Chosen(rule, options) || rule.status == "retired") continue;
    if (std::any_of(off.begin(), off.end(),
                    [&](const SuppressedRule& s) { return s.id == rule.id; }))
      continue;
    verdicts.push_back(session.rules.Run(rule, facts, kNone));
  }
  return verdicts;
}

Result<SavedReport> DiagnoseSaved(const Session& session, const DiagnoseOptions& options) {
  const Result<WindowRequest> window = ParseWindow(options.window);
  if (!window) return tl::unexpected(window.error());
  if (NeedsReduction(options.reports)) return DiagnoseRun(session, options, *window);
  // One report is no work for several processes.
  if (!options.by_itself && Processes::All().number() > 0) throw PartHandedIn();
  if (options.progress) options.progress("reading");
  Result<RunInputs> inputs = ReadRun(options.reports, ImportOptions{options.jobs});
  if (!inputs) return tl::unexpected(inputs.error());
  if (inputs->traces.size() != 1) {
    return Fail(fmt::format("{} reports with a timeline were found", inputs->traces.size()), "",
                "this is a mistake in the program: please report it");
  }
  return JudgeTrace(session, options, *window, inputs->traces.front(), inputs->inputs);
}

Result<Report> Diagnose(const Session& session, const DiagnoseOptions& options) {
  Result<SavedReport> saved = DiagnoseSaved(session, options);
  if (!saved) return tl::unexpected(saved.error());
  return std::move(saved->report);
}

}  // namespace advise
