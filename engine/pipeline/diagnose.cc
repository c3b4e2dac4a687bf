#include "engine/pipeline/diagnose.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>

#include "engine/advice/ranking.h"
#include "engine/base/units.h"
#include "engine/cluster/same_start.h"
#include "engine/cluster/summarize.h"
#include "engine/facts/catalog.h"
#include "engine/pipeline/fill_report.h"
#include "engine/pipeline/join_parts.h"
#include "engine/pipeline/parts.h"
#include "engine/pipeline/ranks_of_report.h"
#include "engine/pipeline/run_rules.h"
#include "engine/pipeline/run_views.h"
#include "engine/pipeline/selection.h"

// A run is made of parts: its reports, of which each may hold several ranks. What rules say of a
// part is a Judgment: JudgeRank makes that of one rank, JudgeRanks that of the ranks in one report,
// JoinParts that of several parts. One rank is a run of one rank: nothing is to be joined.

namespace advise {
namespace {

void Say(const DiagnoseOptions& options, const std::string& stage) {
  if (options.progress) options.progress(stage);
}

// Whether facts may be missing that no chosen rule reads.
bool AsksFewFacts(const DiagnoseOptions& options) {
  return !options.only.empty() && !options.all_facts;
}

std::unique_ptr<Facts> FactsFor(const Session& session, const DiagnoseOptions& options,
                                const Analysis& analysis, const Cluster& ranks) {
  if (!AsksFewFacts(options)) return MakeFacts(analysis, ranks);
  const FactNames asked = FactsReadBy(session, options);
  return MakeFacts(analysis, ranks, &asked);
}

// One rank by itself: its facts, what rules say of them, and what each fix would win by replay.
Judgment JudgeRank(const Session& session, const DiagnoseOptions& options,
                   const Analysis& analysis) {
  const Knowledge& knowledge = *session.knowledge;
  // Ranking asks the replay, which nothing needs before; of a few rules perhaps none makes it ask.
  std::future<void> replay;
  if (options.only.empty()) replay = std::async(std::launch::async, [&] { analysis.replay(); });
  Judgment judged{Cluster(SummarizeRanks(analysis), knowledge), nullptr, {}, {}, {}};
  judged.facts = FactsFor(session, options, analysis, judged.ranks);
  Say(options, "judging");
  judged.verdicts = RunRules(session, options, Asked::kAll, *judged.facts,
                             DayOf(analysis.run.trace.utc_origin_ns));
  Say(options, "ranking");
  if (replay.valid()) replay.get();
  judged.findings =
      Rank(judged.verdicts, analysis, knowledge, &judged.claim_results, options.fixes);
  // What is left of an export without its kernels: nothing shows what they did.
  if (analysis.kind.kind == KindOfRun::kNoGpu && !analysis.run.active_devices.empty())
    std::erase_if(judged.findings,
                  [](const Finding& f) { return f.rule->kind != RuleKind::kInfo; });
  analysis.ReleaseReplay();
  return judged;
}

// The ranks of one report, each judged as its own report would be. One rank at a time is in memory
// beside the whole.
class RanksJudge {
 public:
  RanksJudge(const Session& session, const DiagnoseOptions& options, const AnalysisOptions& how,
             const Trace& trace, const std::vector<RankPlace>& places,
             const std::vector<InputInfo>& inputs)
      : session_(session),
        options_(options),
        how_(how),
        trace_(trace),
        places_(places),
        inputs_(inputs),
        identities_(IdentitiesIn(trace, *session.knowledge)),
        parts_(places.size(), Part{trace.path, false, SavedReport(), std::nullopt, {}, {}}) {}

  // Nothing when one of them has no GPU work in the window. Those that show no steps are judged
  // again by the steps of one that does, and those that begin later than others see.
  std::optional<std::vector<Part>> Judge() {
    for (std::size_t i = 0; i < places_.size(); ++i)
      if (!JudgeOne(i, nullptr, how_.steady_since)) return {};
    if (peer_.known()) {
      for (const std::size_t i : without_steps_) JudgeOne(i, &peer_, {});
    }
    BeginTogether();
    return std::move(parts_);
  }

 private:
  void BeginTogether() {
    using Mode = WindowRequest::Mode;
    if (how_.window.mode != Mode::kAuto && how_.window.mode != Mode::kSteady) return;
    std::vector<RankSummary> ranks;
    std::vector<std::size_t> place_of;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const std::vector<RankSummary>& own = parts_[i].saved->ranks;
      ranks.insert(ranks.end(), own.begin(), own.end());
      place_of.insert(place_of.end(), own.size(), i);
    }
    const std::vector<std::optional<Nanos>> since = SteadySince(ranks, *session_.knowledge);
    for (std::size_t r = 0; r < since.size(); ++r)
      if (since[r]) JudgeOne(place_of[r], nullptr, since[r]);
  }

  bool JudgeOne(std::size_t place, const Steps* peer, std::optional<Nanos> steady_since) {
    Say(options_, fmt::format("rank {} of {}", place + 1, places_.size()));
    const Trace own = PartOf(trace_, places_, places_[place], HelperLimitsOf(*session_.knowledge));
    AnalysisOptions how = how_;
    how.peer_steps = peer;
    how.steady_since = steady_since;
    const Analysis analysis(own, *session_.knowledge, how);
    if (analysis.run.window.Length() == 0 || analysis.run.active_devices.empty()) return false;
    const Steps& steps = analysis.run.steps;
    if (peer == nullptr && !steps.known()) without_steps_.push_back(place);
    if (peer == nullptr && steps.known() && !peer_.known()) peer_ = steps;
    DiagnoseOptions quiet = options_;
    quiet.progress = nullptr;
    Fill(analysis, JudgeRank(session_, quiet, analysis), &parts_[place]);
    return true;
  }

  void Fill(const Analysis& analysis, Judgment judged, Part* part) const {
    std::vector<std::uint32_t> device_of(analysis.run.trace.devices.size(), 0);
    for (RankSummary& rank : judged.ranks.ranks) {
      const std::uint32_t device = rank.device_index;
      Identify(identities_, &rank);
      device_of[device] = rank.device_index;
    }
    for (Verdict& verdict : judged.verdicts) MoveClaims(device_of, &verdict);
    part->saved->ranks = std::move(judged.ranks.ranks);
    Report& report = part->saved->report;
    report.inputs = inputs_;
    report.verdicts = std::move(judged.verdicts);
    report.findings = std::move(judged.findings);
    report.no_verdict_reason = analysis.support.verdict ? "" : analysis.support.reason;
  }

  const Session& session_;
  const DiagnoseOptions& options_;
  const AnalysisOptions& how_;
  const Trace& trace_;
  const std::vector<RankPlace>& places_;
  const std::vector<InputInfo>& inputs_;
  const std::vector<RankSummary> identities_;
  std::vector<Part> parts_;
  std::vector<std::size_t> without_steps_;  // places
  Steps peer_;                              // of the first rank that shows any
};

// What the ranks of one report say together; nothing when one of them has no GPU work in the
// window. Claims are by device of the whole.
std::optional<Judgment> JudgeRanks(const Session& session, const DiagnoseOptions& options,
                                   const AnalysisOptions& how, const Trace& trace,
                                   const std::vector<RankPlace>& places,
                                   const std::vector<InputInfo>& inputs) {
  std::optional<std::vector<Part>> parts =
      RanksJudge(session, options, how, trace, places, inputs).Judge();
  if (!parts) return {};
  DiagnoseOptions quiet = options;
  quiet.progress = nullptr;
  Result<Judgment> joined = JoinParts(session, quiet, &*parts);
  if (!joined) return {};
  std::vector<std::uint32_t> device_of;  // claims of verdicts about ranks are by rank
  for (const RankSummary& rank : joined->ranks.ranks) device_of.push_back(rank.device_index);
  for (Verdict& verdict : joined->verdicts) {
    if (AboutRanks(*verdict.rule)) MoveClaims(device_of, &verdict);
  }
  return std::move(*joined);
}

// Several parts as one report.
Result<SavedReport> DiagnoseParts(const Session& session, const DiagnoseOptions& options,
                                  std::vector<Part>* parts) {
  Say(options, "comparing ranks");
  Result<Judgment> judged = JoinParts(session, options, parts);
  if (!judged) return tl::unexpected(judged.error());
  Cluster& ranks = judged->ranks;
  Report report = ReportOfParts(*parts, ranks, session.facts, *judged->facts);
  report.verdicts = std::move(judged->verdicts);
  report.findings = std::move(judged->findings);
  Conclude(*session.knowledge, DayOfRanks(ranks.ranks), &ranks, &report);
  if (options.draw) {
    std::vector<PartViews> views;
    for (std::size_t i = 0; i < parts->size(); ++i) {
      const std::optional<SavedReport>& saved = (*parts)[i].saved;
      const auto first = std::find_if(ranks.ranks.begin(), ranks.ranks.end(),
                                      [&](const RankSummary& rank) { return rank.report == i; });
      if (!saved || saved->report.views == nullptr || first == ranks.ranks.end()) continue;
      const auto r = static_cast<std::size_t>(first - ranks.ranks.begin());
      views.push_back({ranks.Label(r), saved->report.views});
    }
    report.views = MergeViews(views, ranks, report);
  }
  return SavedReport{std::move(report), std::move(ranks.ranks)};
}

}  // namespace

Result<SavedReport> DiagnoseTrace(const Session& session, const DiagnoseOptions& options,
                                  const Trace& trace, const std::vector<InputInfo>& inputs) {
  const Knowledge& knowledge = *session.knowledge;
  const Result<WindowRequest> window = ParseWindow(options.window);
  if (!window) return tl::unexpected(window.error());
  const AnalysisOptions how{*window, options.gpu,         options.jobs, AsksFewFacts(options),
                            nullptr, options.steady_since};

  const std::vector<RankPlace> places = RanksOf(trace, knowledge);
  std::optional<Judgment> together;
  if (!places.empty()) together = JudgeRanks(session, options, how, trace, places, inputs);

  Say(options, "measuring");
  const Analysis analysis(trace, knowledge, how);
  if (window->mode == WindowRequest::Mode::kGiven && analysis.run.window.Length() == 0) {
    return Fail("no GPU work lies in the window " + options.window, trace.path,
                "seconds count from the start of the trace");
  }
  const bool apart = together.has_value();
  Judgment judged = apart ? std::move(*together) : JudgeRank(session, options, analysis);
  if (apart) judged.facts = FactsFor(session, options, analysis, judged.ranks);

  Report report = ReportOfTrace(analysis, session.facts, *judged.facts, inputs);
  report.verdicts = std::move(judged.verdicts);
  report.findings = std::move(judged.findings);
  if (apart) {
    // The windows of the ranks differ from that of the report, which shows seconds beside shares.
    const double seconds =
        static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
    for (Finding& finding : report.findings) finding.saving_s = finding.saving_share * seconds;
  }
  report.claim_results = std::move(judged.claim_results);
  Conclude(knowledge, DayOf(trace.utc_origin_ns), apart ? &judged.ranks : nullptr, &report);
  if (options.inspect) options.inspect(analysis, &report);
  return SavedReport{std::move(report), std::move(judged.ranks.ranks)};
}

Result<SavedReport> Diagnose(const Session& session, const DiagnoseOptions& options) {
  if (const auto window = ParseWindow(options.window); !window) {
    return tl::unexpected(window.error());
  }
  const auto judge = [&](const DiagnoseOptions& how, const Trace& trace,
                         const std::vector<InputInfo>& inputs) {
    return DiagnoseTrace(session, how, trace, inputs);
  };
  Result<std::vector<Part>> parts = ReadParts(session, options, judge);
  if (!parts) return tl::unexpected(parts.error());
  std::vector<Part*> readable;
  for (Part& part : *parts) {
    if (part.saved) readable.push_back(&part);
  }
  if (readable.empty()) return tl::unexpected(*parts->front().error);
  Result<SavedReport> saved = readable.size() == 1 ? std::move(*readable.front()->saved)
                                                   : DiagnoseParts(session, options, &*parts);
  if (!saved) return saved;
  if (options.draw && saved->report.views == nullptr) {  // of a facts file
    const Cluster ranks(saved->ranks, *session.knowledge);
    saved->report.views = MergeViews({}, ranks, saved->report);
  }
  AddUnreadable(*parts, &saved->report);
  return saved;
}

}  // namespace advise
