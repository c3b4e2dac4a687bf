#include "engine/report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/advice/audience.h"
#include "engine/advice/describe.h"
#include "engine/advice/only_fix.h"
#include "engine/advice/run_terms.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"

namespace advise {
namespace {

constexpr double kMeasuredEnough = 0.5;  // of the kernel time
constexpr double kWorthSaying = 0.01;    // of the peaks: less says only that the GPU is idle

constexpr double kNothing = 0.001;  // of the window: no number says more

// How much it saves if only it is fixed, where its saving is notably less or more; else "". Nothing
// stands above the first of the plan.
std::string ByItself(const Finding& finding) {
  // What saves nothing in its turn says what it saves alone, however little that is.
  const bool only_alone = finding.saving_s <= 0 && finding.alone_share >= kNothing;
  if (!finding.DiffersAlone() && !only_alone) return "";
  return finding.alone_share < kNothing ? "nothing by itself"
                                        : Percent(finding.alone_share) + " by itself";
}

// The first sentence of a finding whose saving the profiler hides.
std::string HiddenSaving(const Finding& finding) {
  return fmt::format(
      "saves up to {} of a run without the profiler, but {} of this recording: the profiler slows "
      "the host, which then holds the GPU back",
      Percent(*finding.unprofiled_share),
      finding.saving_share < kNothing / 1000 ? "nothing" : Percent(finding.saving_share));
}

// What it saves by itself of a run that nobody profiles, where nothing else is told; else "".
std::string AloneUnprofiled(const Finding& finding) {
  const double alone = finding.unprofiled_alone_share.value_or(0);
  return finding.saving_s > 0 || alone < kWorthSaying ? "" : Percent(alone);
}

// In parentheses behind an amount: the share, that without the profiler, and that of the fix alone.
std::string Shares(const Finding& finding) {
  std::string text = Percent(finding.saving_share);
  if (finding.DiffersUnprofiled()) {
    text += *finding.unprofiled_share < kNothing
                ? ", but nothing without the profiler"
                : fmt::format(", or {} without the profiler", Percent(*finding.unprofiled_share));
  }
  const std::string alone = ByItself(finding);
  return text + (alone.empty() ? "" : "; " + alone);
}

}  // namespace

std::string RunText(const Report& report) {
  if (report.run.kind.empty() || report.run.kind == "no-gpu") return "";
  // Iterations of what names do not tell are a loop; only the JSON report needs one word for all.
  std::string kind = report.run.kind == "solver" ? "loop" : report.run.kind;
  // The verdict begins with "A few kernels".
  if (kind == "kernels" && report.run.unit == "launch") kind.clear();
  if (kind != "start-up") std::replace(kind.begin(), kind.end(), '-', ' ');
  if (report.run.sequences >= 1)
    kind += fmt::format(" of {:.0f} sequence{} at once", report.run.sequences,
                        report.run.sequences < 2 ? "" : "s");
  const std::size_t units = report.run.units;
  if (units == 0 || report.run.unit == "pass") return kind;
  // One that nobody found is no number to print.
  if (units == 1 && report.step_count == 0 && report.run.unit != "launch") return kind;
  return fmt::format("{}{}{} {}{}", kind, kind.empty() ? "" : ", ",
                     FormatQuantity(static_cast<double>(units), "count"), report.run.unit,
                     units == 1                    ? ""
                     : report.run.unit == "launch" ? "es"
                                                   : "s");
}

std::string StepsInWords(const RunInfo& run) {
  const bool named = run.unit == "request" || run.unit == "token" || run.unit == "iteration";
  return named ? run.unit + "s" : "steps";
}

std::vector<std::string> GpuModels(const Report& report) {
  std::vector<std::string> names = report.gpus;
  if (!report.devices.empty()) names.clear();
  for (const DeviceBudget& device : report.devices) names.push_back(device.name);
  std::vector<std::pair<std::string, int>> models;
  for (const std::string& given : names) {
    const auto known = std::find_if(models.begin(), models.end(),
                                    [&](const auto& model) { return model.first == given; });
    if (known == models.end()) {
      models.emplace_back(given, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : models) {
    // Those without a name are no model of that name.
    texts.push_back(name.empty() ? fmt::format("{} GPU{}", count, count == 1 ? "" : "s")
                                 : fmt::format("{} × {}", count, name));
  }
  return texts;
}

std::string EfficiencyText(const EfficiencyInfo& efficiency, bool says_of_what) {
  std::vector<std::string> parts;
  if (efficiency.measured_share < kMeasuredEnough) return "";
  if (std::max(efficiency.mfu, efficiency.bandwidth) < kWorthSaying) return "";
  if (efficiency.mfu > 0) {
    parts.push_back("MFU " + FormatQuantity(efficiency.mfu, "share") +
                    (says_of_what ? " (of the peak for the types used)" : ""));
  }
  if (efficiency.bandwidth > 0)
    parts.push_back(FormatQuantity(efficiency.bandwidth, "share") + " of the memory bandwidth");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string DoubtText(const Report& report) {
  if (report.no_verdict_reason.empty() || report.run.kind == "no-gpu") return "";
  // The verdict may begin with the reason.
  if (!report.verdict.empty() && report.verdict.find(report.no_verdict_reason.substr(1)) == 1)
    return "";
  return fmt::format("Tentative: {}.", report.no_verdict_reason);
}

std::string BasisText(const Finding& finding) {
  if (finding.bound_alone.empty()) return finding.basis;
  // What limits the run behind the fixes before this one is said of the plan.
  return fmt::format("{}{}{} {} is the limit", finding.basis, finding.basis.empty() ? "" : "; ",
                     LimitsOnlyAlone(finding) ? "if this is the only fix," : "then",
                     finding.bound_alone);
}

std::string EffortOf(const Finding& finding, const Fix& fix) {
  return finding.rule == nullptr ? "" : EffortOfFix(*finding.rule, fix);
}

std::string EffortOfFirst(const Report& report, const Finding& finding) {
  const std::vector<Fix> fixes = FixesFor(report.run, finding.fixes);
  return fixes.empty() ? "" : EffortOf(finding, fixes.front());
}

std::string EffortWords(const std::string& effort) {
  if (effort == "flag") return "a setting";
  if (effort == "code") return "a code change";
  return effort == "design" ? "a design change" : effort;
}

const Finding* WithTheSameFix(const Report& report, const Finding& finding, const Fix& fix) {
  for (const Finding& other : report.findings) {
    if (other.rank >= finding.rank || other.severity == Severity::kInfo || other.UnderCause())
      continue;
    const std::vector<Fix> fixes = FixesFor(report.run, other.fixes);
    if (fixes.empty()) continue;
    const bool same = fix.snippet.empty() ? fixes.front().action == fix.action
                                          : fixes.front().snippet == fix.snippet;
    if (same) return &other;
  }
  return nullptr;
}

const Finding* MadeNeedlessBy(const Report& report, const Finding& finding) {
  if (finding.rule == nullptr || finding.InTurn() >= kWorthSaying) return nullptr;
  for (const Finding& other : report.findings) {
    const auto& needless = other.makes_needless;
    if (other.rank > 0 && other.rank < finding.rank && IsIn(finding.rule->id, needless))
      return &other;
  }
  return nullptr;
}

bool SaysAgain(const Report& report, const Finding& finding) {
  const std::string& doubt = report.no_verdict_reason;
  if (!doubt.empty() && finding.symptom.find(doubt) != std::string::npos) return true;
  if (finding.rule == nullptr) return false;
  switch (finding.rule->topic) {
    case Topic::kMissingRanks:
      return HasCare(report, Care::kSomeRanks);
    case Topic::kUnnamedSteps:
      return HasCare(report, Care::kStepsOfWork) || HasCare(report, Care::kNoSteps);
    case Topic::kTooShort:
      return HasCare(report, Care::kNoSteps);
    case Topic::kLostLaunches:
      return HasCare(report, Care::kLostCalls) || HasCare(report, Care::kNoCalls);
    case Topic::kMissingSources:  // the command at the end records them
      return !report.capture_command.empty();
    case Topic::kClosedGraphs:
      return report.next_records_graphs;
    case Topic::kHottestKernel:
      return report.next_measures_hottest;
    case Topic::kHostOperators:  // time of the host between launches, under another name
      return std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& other) {
        return other.rule != nullptr && other.rule->topic == Topic::kHostCode &&
               other.severity != Severity::kInfo && !other.UnderCause();
      });
    default:
      return false;
  }
}

bool IsMostlyTaken(const Finding& finding) {
  return finding.severity == Severity::kLow && 2 * finding.saving_share < finding.alone_share;
}

std::string StandingText(const Finding& finding) {
  if (finding.tentative) return "tentative";
  return finding.observed == Observed::kInferred ? "" : ObservedName(finding.observed);
}

std::string SeverityText(const Finding& finding) {
  const std::string standing = StandingText(finding);
  return fmt::format("{}{}{}, confidence {}", SeverityName(finding.severity),
                     standing.empty() ? "" : ", ", standing,
                     FormatQuantity(finding.confidence, "share"));
}

std::string SavingAmount(const Finding& finding) {
  if (finding.HiddenByProfiler()) {
    return fmt::format("{} without the profiler; {} of this recording",
                       Percent(*finding.unprofiled_share),
                       finding.saving_s > 0 ? Percent(finding.saving_share) : "nothing");
  }
  if (finding.saving_s > 0)
    return fmt::format("{} ({})", SecondsText(finding.saving_s), Shares(finding));
  const std::string alone = ByItself(finding);
  const std::string unprofiled = AloneUnprofiled(finding);
  return !alone.empty() || unprofiled.empty() ? alone
                                              : unprofiled + " by itself, without the profiler";
}

std::string NeedlessText(const Report& report, const Finding& finding) {
  const Finding* const fix = MadeNeedlessBy(report, finding);
  if (fix == nullptr) return "";
  std::string text = fmt::format("needless after {}", fix->rank);
  if (finding.alone_share > 0) text += fmt::format("; {} by itself", Percent(finding.alone_share));
  return text;
}

std::string SavingShares(const Finding& finding) {
  if (finding.DiffersUnprofiled())
    return Percent(*finding.unprofiled_share) + " without the profiler";
  const std::string unprofiled = AloneUnprofiled(finding);
  if (!finding.DiffersAlone() && !unprofiled.empty()) return unprofiled + " without the profiler";
  std::string alone = ByItself(finding);
  if (finding.saving_s <= 0) return alone;
  return Percent(finding.saving_share) + (alone.empty() ? "" : "; " + alone);
}

std::string SavingText(const Report& report, const Finding& finding) {
  if (finding.HiddenByProfiler()) return HiddenSaving(finding);
  const std::string alone = ByItself(finding);
  if (finding.saving_s <= 0) {
    const std::string nothing = "saves nothing more after the findings above; up to ";
    if (!alone.empty() && finding.DiffersUnprofiled()) {
      return fmt::format(
          "saves up to {} of a run without the profiler after the findings above; {}",
          Percent(*finding.unprofiled_share), alone);
    }
    if (!alone.empty()) return nothing + alone;
    const std::string unprofiled = AloneUnprofiled(finding);
    if (!unprofiled.empty())
      return nothing + unprofiled + " of a run without the profiler by itself";
    return report.window.Seconds() > 0 ? "saving unknown" : "saving unknown without a timeline";
  }
  std::string text =
      fmt::format("saves up to {} of {} ({})", SecondsText(finding.saving_s),
                  SecondsText(report.window.Seconds()), Percent(finding.saving_share));
  if (finding.DiffersUnprofiled()) {
    text += *finding.unprofiled_share < kNothing
                ? ", but nothing of a run without the profiler"
                : fmt::format(", or {} of a run without the profiler",
                              Percent(*finding.unprofiled_share));
  }
  if (alone.empty()) return text;
  return text + (finding.DiffersUnprofiled() ? ", after" : " after") + " the findings above; " +
         alone;
}

std::string SearchText(const Evidence& item) {
  // Without a time, a counter: a reader compares the number.
  if (item.end_ns <= item.start_ns && !item.source.empty()) {
    return fmt::format("look at {}: {}, {}", item.source, item.what,
                       FormatQuantity(item.value, item.unit));
  }
  std::string text = "search for " + item.what;
  if (item.end_ns > item.start_ns) {
    text += fmt::format(", from {:.6f} s to {:.6f} s", static_cast<double>(item.start_ns) / 1e9,
                        static_cast<double>(item.end_ns) / 1e9);
  }
  return item.source.empty() ? text : text + " in " + item.source;
}

const Finding* OwnFinding(const Report& report, const std::string& id) {
  for (const Finding& other : report.findings) {
    const bool listed = !other.UnderCause() && other.severity != Severity::kInfo;
    if (other.rule != nullptr && other.rule->id == id && listed) return &other;
  }
  return nullptr;
}

std::string ExplainedText(const Report& report, const std::string& id) {
  if (const Finding* const own = OwnFinding(report, id); own != nullptr)
    return fmt::format("part of finding {}: {} ({})", own->rank, own->Title(), id);
  for (const Finding& other : report.findings) {
    if (other.rule != nullptr && other.rule->id == id && !other.symptom.empty()) {
      return fmt::format("{} ({})", other.Seen(), id);
    }
  }
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule != nullptr && verdict.rule->id == id) {
      return fmt::format("{} ({})", TitleFor(report.run, *verdict.rule), id);
    }
  }
  return id;
}

std::string SecondsText(double seconds) {
  if (seconds >= 99.95) return fmt::format("{:.0f} s", seconds);
  if (seconds >= 9.995) return fmt::format("{:.1f} s", seconds);
  return seconds >= 0.1 ? fmt::format("{:.2f} s", seconds) : FormatQuantity(seconds, "s");
}

}  // namespace advise
