#include "engine/report/finding_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "engine/advice/audience.h"
#include "engine/advice/run_terms.h"
#include "engine/base/text.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

constexpr int kIndent = 4;  // under the title
constexpr std::size_t kLinks = 2;
constexpr std::size_t kFixesShown = 3;  // the best ones come first
constexpr int kFindingColumn = 11;      // where the words after "Seen", "Why" … begin
// Two savings of a finding are told apart from so much on: of the window, and of the larger one.
constexpr double kApart = 0.01;
constexpr double kApartOf = 0.2;
constexpr double kMeasuredEnough = 0.5;  // of the kernel time

double WindowSeconds(const Report& report) {
  return static_cast<double>(report.window.end_ns - report.window.start_ns) / kNanosPerSecond;
}

// How much it saves if only it is fixed, where its saving is notably less or more; else "". Nothing
// stands above the first of the plan.
std::string ByItself(const Finding& finding) {
  if (finding.turn == 1) return "";
  const double apart = std::abs(finding.alone_share - finding.saving_share);
  if (apart < kApart || apart < kApartOf * finding.AtStake()) return "";
  constexpr double kNothing = 0.001;
  if (finding.alone_share < kNothing) return "nothing by itself";
  return FormatQuantity(finding.alone_share, "share") + " by itself";
}

Ink InkOf(Severity severity) {
  if (severity >= Severity::kHigh) return Ink::kRed;
  return severity == Severity::kMedium ? Ink::kYellow : Ink::kCyan;
}

void WriteFixes(Page& page, const Report& report, const Finding& finding, bool all) {
  std::vector<std::string> links;
  const std::vector<Fix> fixes = all ? finding.fixes : FixesFor(report.run, finding.fixes);
  // A line that says that one more stands elsewhere takes as much room as that one.
  const std::size_t shown = all || fixes.size() <= kFixesShown + 1 ? fixes.size() : kFixesShown;
  for (std::size_t i = 0; i < shown; ++i) {
    const Fix& fix = fixes[i];
    page.Labelled(i == 0 ? "Do" : "or", kIndent, kFindingColumn, fix.action);
    if (!fix.snippet.empty()) page.Verbatim(fix.snippet, kFindingColumn + 2, Ink::kGreen);
    for (const Link& link : fix.links) {
      if (std::find(links.begin(), links.end(), link.url) == links.end()) links.push_back(link.url);
    }
  }
  if (shown < fixes.size()) {
    page.Labelled("", kIndent, kFindingColumn,
                  fmt::format("and {} other ways (all of them: --all-fixes)", fixes.size() - shown),
                  Ink::kDim);
  }
  // The first are the nearest to the fix; all of them stand in the JSON report.
  for (std::size_t i = 0; i < std::min(kLinks, links.size()); ++i) {
    page.Labelled(i == 0 ? "See" : "", kIndent, kFindingColumn, links[i]);
  }
}

// What the statement prints, as a comment of the shell: the line runs as it stands. "" for rows.
std::string ExpectedOutput(const Evidence& item) {
  if (item.sql.starts_with("select start,")) return "";
  const bool part = item.what.find("of which this explains") != std::string::npos;
  return fmt::format("  # expect {:.0f} ({}){}", item.value, item.unit,
                     part ? ": " + item.what : "");
}

void WriteCheck(Page& page, const Report& report, const Finding& finding) {
  const auto with_sql = std::find_if(finding.evidence.begin(), finding.evidence.end(),
                                     [](const Evidence& item) { return !item.sql.empty(); });
  const std::string label =
      std::string(kIndent, ' ') + page.Paint("Check", Ink::kDim) + std::string(2, ' ');
  if (with_sql != finding.evidence.end()) {
    const std::string path = !with_sql->source.empty() ? with_sql->source
                             : report.inputs.empty()   ? "report.sqlite"
                                                       : report.inputs.front().path;
    page.Line(label + page.Paint(SqliteCommand(path, with_sql->sql), Ink::kPlain) +
              page.Paint(ExpectedOutput(*with_sql), Ink::kDim));
    return;
  }
  const auto with_pattern =
      std::find_if(finding.evidence.begin(), finding.evidence.end(),
                   [](const Evidence& item) { return !item.find.empty() && !item.source.empty(); });
  if (with_pattern != finding.evidence.end()) {
    page.Line(label +
              page.Paint(GrepCommand(with_pattern->source, with_pattern->find), Ink::kPlain));
    return;
  }
  const auto with_span = std::find_if(
      finding.evidence.begin(), finding.evidence.end(),
      [](const Evidence& item) { return item.end_ns > item.start_ns || !item.source.empty(); });
  if (with_span != finding.evidence.end()) {
    page.Labelled("Check", kIndent, kFindingColumn, "search for " + SearchText(*with_span));
  }
}

const RuleInfo* RuleOf(const Report& report, const std::string& id) {
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.rule != nullptr && verdict.rule->id == id) return verdict.rule;
  }
  for (const Finding& finding : report.findings) {
    if (finding.rule != nullptr && finding.rule->id == id) return finding.rule;
  }
  return nullptr;
}

// Something that was seen is explained; another fix is covered.
std::string HowItRelates(const Report& report, const std::string& id) {
  const bool seen =
      std::any_of(report.findings.begin(), report.findings.end(), [&](const Finding& other) {
        return other.rule != nullptr && other.rule->id == id && !other.symptom.empty();
      });
  return seen ? "explains: " : "covers: ";
}

// What a finding explains as a tree: an effect stands under the nearest cause of it that is
// explained here, too, and under the finding itself otherwise.
class EffectTree {
 public:
  EffectTree(const Report& report, const Finding& finding)
      : report_(report), ids_(finding.explains) {
    for (const std::string& id : ids_) {
      const RuleInfo* rule = RuleOf(report, id);
      for (const std::string& effect :
           rule == nullptr ? std::vector<std::string>() : rule->explains) {
        const bool here = effect != id && std::find(ids_.begin(), ids_.end(), effect) != ids_.end();
        if (here && !Above(effect, id)) parent_.emplace(effect, id);
      }
    }
  }

  void Write(Page& page, const std::string& parent, const std::string& lead) const {
    std::vector<std::string> children;
    for (const std::string& id : ids_) {
      const auto found = parent_.find(id);
      if ((found == parent_.end() ? "" : found->second) == parent) children.push_back(id);
    }
    for (const std::string& id : children) {
      const bool last = &id == &children.back();
      const std::vector<std::string> lines =
          WrapWords(HowItRelates(report_, id) + ExplainedText(report_, id),
                    page.width() - kFindingColumn - DisplayWidth(lead));
      for (std::size_t k = 0; k < lines.size(); ++k) {
        const char* branch = k > 0 ? (last ? "   " : "│  ") : (last ? "└─ " : "├─ ");
        page.Line(std::string(kFindingColumn - 3, ' ') + lead + branch +
                  page.Paint(lines[k], Ink::kPlain));
      }
      Write(page, id, lead + (last ? "   " : "│  "));
    }
  }

 private:
  // Whether `id` stands above `below` already: rules must not explain each other in a circle, but a
  // site's may.
  bool Above(const std::string& id, std::string below) const {
    for (auto at = parent_.find(below); at != parent_.end(); at = parent_.find(below)) {
      below = at->second;
      if (below == id) return true;
    }
    return false;
  }

  const Report& report_;
  const std::vector<std::string>& ids_;
  std::map<std::string, std::string> parent_;
};

void WriteRule(Page& page, const Report& report, const Finding& finding,
               const TextOptions& options) {
  if (finding.rule == nullptr) return;
  const std::string& id = finding.rule->id;
  std::string reports = options.reports_argument;
  if (reports.empty() && !report.inputs.empty()) reports = ShellQuote(report.inputs.front().path);
  const std::string why = fmt::format("advise why {} {}", id, reports);
  const std::string label =
      std::string(kIndent, ' ') + page.Paint("Rule", Ink::kDim) + std::string(3, ' ');
  const std::string one_line = fmt::format("{}   ({})", id, why);
  if (kFindingColumn + DisplayWidth(one_line) <= page.width()) {
    page.Line(label + page.Paint(one_line, Ink::kPlain));
  } else {
    page.Line(label + page.Paint(id, Ink::kPlain));
    page.Line(std::string(kFindingColumn, ' ') + page.Paint("(" + why + ")", Ink::kPlain));
  }
  EffectTree(report, finding).Write(page, "", "");
}

}  // namespace

std::string RunText(const Report& report) {
  if (report.run.kind.empty() || report.run.kind == "no-gpu") return "";
  // Iterations of what names do not tell are a loop; only the JSON report needs one word for all.
  std::string kind = report.run.kind == "solver" ? "loop" : report.run.kind;
  if (kind != "start-up") std::replace(kind.begin(), kind.end(), '-', ' ');
  const std::size_t units = report.run.units;
  if (units == 0 || report.run.unit == "pass") return kind;
  // One that nobody found is no number to print.
  if (units == 1 && report.step_count == 0 && report.run.unit != "launch") return kind;
  return fmt::format("{}, {} {}{}", kind, units, report.run.unit,
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
    const std::string name = given.empty() ? "GPU" : given;
    const auto known = std::find_if(models.begin(), models.end(),
                                    [&](const auto& model) { return model.first == name; });
    if (known == models.end()) {
      models.emplace_back(name, 1);
    } else {
      ++known->second;
    }
  }
  std::vector<std::string> texts;
  for (const auto& [name, count] : models) texts.push_back(fmt::format("{} × {}", count, name));
  return texts;
}

std::string EfficiencyText(const EfficiencyInfo& efficiency) {
  std::vector<std::string> parts;
  if (efficiency.measured_share < kMeasuredEnough) return "";
  if (efficiency.mfu > 0) parts.push_back("MFU " + FormatQuantity(efficiency.mfu, "share"));
  if (efficiency.bandwidth > 0)
    parts.push_back("memory bandwidth " + FormatQuantity(efficiency.bandwidth, "share"));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string DoubtText(const Report& report) {
  if (report.no_verdict_reason.empty() || report.run.kind == "no-gpu") return "";
  // The verdict may begin with the reason.
  if (!report.verdict.empty() && report.verdict.find(report.no_verdict_reason.substr(1)) == 1)
    return "";
  return fmt::format("Tentative: {}.", report.no_verdict_reason);
}

std::string EffortWords(const std::string& effort) {
  if (effort == "flag") return "a setting";
  if (effort == "code") return "a code change";
  return effort == "design" ? "a change of design" : effort;
}

bool SaysAgain(const Report& report, const Finding& finding) {
  const std::string& doubt = report.no_verdict_reason;
  if (!doubt.empty() && finding.symptom.find(doubt) != std::string::npos) return true;
  if (finding.rule == nullptr) return false;
  // Notes whose words another part of the report has, and how that part is recognized.
  static const std::multimap<std::string, std::string> kCare = {
      {"capture/some-ranks", "who waits for whom"},
      {"capture/no-ranges", "not from ranges"},
      {"capture/no-ranges", "the whole capture was analyzed"},
      {"capture/too-short", "the whole capture was analyzed"},
      {"capture/dropped-events", "was not captured: causes of"},
      {"capture/dropped-events", "no CUDA calls were recorded"}};
  if (const auto [from, to] = kCare.equal_range(finding.rule->id); from != to) {
    return std::any_of(from, to, [&](const auto& care) {
      return std::any_of(
          report.read_with_care.begin(), report.read_with_care.end(),
          [&](const std::string& line) { return line.find(care.second) != std::string::npos; });
    });
  }
  // The command at the end records what is missing.
  if (finding.rule->id == "capture/missing-data") return !report.capture_command.empty();
  // Time of the host between launches, under another name.
  if (finding.rule->id == "launch/host-op-overhead") {
    return std::any_of(report.findings.begin(), report.findings.end(), [](const Finding& other) {
      return other.rule != nullptr && other.rule->id == "host/cpu-bound" &&
             other.severity != Severity::kInfo && other.explained_by.empty();
    });
  }
  return finding.rule->id == "capture/whole-graphs" &&
         report.next_command.find("--cuda-graph-trace=node") != std::string::npos;
}

bool IsMostlyTaken(const Finding& finding) {
  return finding.severity == Severity::kLow && 2 * finding.saving_share < finding.alone_share;
}

std::string SeverityText(const Finding& finding) {
  return fmt::format("{}{}, confidence {}", SeverityName(finding.severity),
                     finding.tentative ? ", tentative" : "",
                     FormatQuantity(finding.confidence, "share"));
}

std::string SavingAmount(const Finding& finding) {
  std::string alone = ByItself(finding);
  if (finding.saving_s <= 0) return alone;
  return fmt::format("{} ({}{}{})", SecondsText(finding.saving_s),
                     FormatQuantity(finding.saving_share, "share"), alone.empty() ? "" : "; ",
                     alone);
}

std::string SavingText(const Report& report, const Finding& finding) {
  const std::string alone = ByItself(finding);
  if (finding.saving_s <= 0) {
    return alone.empty() ? "saving unknown"
                         : "saves nothing more after the findings above; up to " + alone;
  }
  const std::string saving = fmt::format("saves up to {} of {} ({})", SecondsText(finding.saving_s),
                                         SecondsText(WindowSeconds(report)),
                                         FormatQuantity(finding.saving_share, "share"));
  return alone.empty() ? saving : saving + " after the findings above; " + alone;
}

std::string SearchText(const Evidence& item) {
  std::string text = item.what;
  if (item.end_ns > item.start_ns) {
    text += fmt::format(", from {:.6f} s to {:.6f} s", static_cast<double>(item.start_ns) / 1e9,
                        static_cast<double>(item.end_ns) / 1e9);
  }
  return item.source.empty() ? text : text + " in " + item.source;
}

std::string ExplainedText(const Report& report, const std::string& id) {
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

void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options) {
  const std::string title = finding.Title();
  const std::string saving = SavingText(report, finding);
  const std::string number = fmt::format("{:>2}  ", finding.rank);
  const int room = page.width() - static_cast<int>(number.size()) - DisplayWidth(saving);
  if (DisplayWidth(title) + 3 <= room) {
    page.Line(page.Paint(number, InkOf(finding.severity)) +
              page.Paint(PadRight(SafeText(title), room), Ink::kBold) +
              page.Paint(saving, InkOf(finding.severity)));
  } else {
    std::string lead = page.Paint(number, InkOf(finding.severity));
    for (const std::string& line : WrapWords(title, page.width() - kIndent)) {
      page.Line(lead + page.Paint(line, Ink::kBold));
      lead = std::string(kIndent, ' ');
    }
    page.Wrapped(saving, kIndent, InkOf(finding.severity));
  }
  if (!finding.symptom.empty()) page.Labelled("Seen", kIndent, kFindingColumn, finding.Seen());
  const std::string where = WhereText(report, finding.where);
  if (!where.empty()) page.Labelled("Where", kIndent, kFindingColumn, where);
  if (IsMostlyTaken(finding) && !options.all_fixes)
    return WriteRule(page, report, finding, options);
  if (!finding.cause.empty()) page.Labelled("Why", kIndent, kFindingColumn, finding.cause);
  WriteFixes(page, report, finding, options.all_fixes);
  if (finding.AtStake() > 0) {
    std::string gain = finding.basis.empty() ? "" : fmt::format("assumes: {}. ", finding.basis);
    gain += "Severity " + SeverityText(finding);
    if (!finding.confidence_from.empty()) gain += ": " + finding.confidence_from;
    gain += ".";
    if (finding.rule != nullptr && !finding.rule->effort.empty()) {
      gain += " Effort: " + EffortWords(finding.rule->effort) + ".";
    }
    page.Labelled("Gain", kIndent, kFindingColumn, gain);
  }
  WriteCheck(page, report, finding);
  WriteRule(page, report, finding, options);
}

void WriteFindingLine(Page& page, const Finding& finding) {
  const std::string title = finding.Title();
  const std::string id = finding.rule == nullptr ? "" : finding.rule->id;
  std::string saving = SavingAmount(finding);
  if (saving.empty()) saving = "-";
  const int room =
      std::max(16, page.width() - kIndent - DisplayWidth(saving) - DisplayWidth(id) - 4);
  page.Line(page.Paint(fmt::format("{:>2}  ", finding.rank), InkOf(finding.severity)) +
            page.Paint(PadRight(CutEnd(SafeText(title), room), room), Ink::kPlain) + "  " +
            page.Paint(saving, Ink::kPlain) + "  " + page.Paint(id, Ink::kDim));
}

}  // namespace advise
