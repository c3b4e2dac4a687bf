#include "engine/report/write_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "engine/advice/audience.h"
#include "engine/base/text.h"
#include "engine/report/finding_text.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

constexpr int kIndent = 4;  // under the title
constexpr std::size_t kLinks = 2;
constexpr int kFindingColumn = 11;  // where the words after "Seen", "Why" … begin

Ink InkOf(Severity severity) {
  if (severity >= Severity::kHigh) return Ink::kRed;
  return severity == Severity::kMedium ? Ink::kYellow : Ink::kCyan;
}

// The first sentence of a text.
std::string FirstSentence(const std::string& text) {
  for (std::size_t at = text.find(". "); at != std::string::npos; at = text.find(". ", at + 1)) {
    const auto next = static_cast<unsigned char>(text[at + 2]);
    if (std::isupper(next) != 0) return text.substr(0, at + 1);
  }
  return text;
}

// What is said behind the first of several fixes: "(a code change; 2 other ways: -v)".
std::string InParentheses(const std::string& effort, std::size_t others) {
  std::vector<std::string> parts;
  if (!effort.empty()) parts.push_back(effort);
  if (others > 0)
    parts.push_back(fmt::format("{} other way{}: -v", others, others == 1 ? "" : "s"));
  return parts.empty() ? "" : fmt::format(" ({})", fmt::join(parts, "; "));
}

// The links of the fixes, each once, those of the first fix first.
std::vector<std::string> LinksOf(const std::vector<Fix>& fixes) {
  std::vector<std::string> links;
  for (const Fix& fix : fixes) {
    for (const Link& link : fix.links) {
      if (std::find(links.begin(), links.end(), link.url) == links.end()) links.push_back(link.url);
    }
  }
  return links;
}

// The best fix comes first. One that a finding before has said is not said again.
void WriteFixes(Page& page, const Report& report, const Finding& finding,
                const TextOptions& options) {
  const std::vector<Fix> fixes =
      options.all_fixes ? finding.fixes : FixesFor(report.run, finding.fixes);
  const bool all = options.verbose || options.all_fixes;
  const std::size_t shown = all ? fixes.size() : std::min<std::size_t>(1, fixes.size());
  const std::string effort = finding.rule == nullptr ? "" : EffortWords(finding.rule->effort);
  const Finding* const same =
      all || shown == 0 ? nullptr : WithTheSameFix(report, finding, fixes.front());
  if (same != nullptr) {
    page.Labelled("Do", kIndent, kFindingColumn,
                  fmt::format("{} (the fix of {}{})", fixes.front().action, same->rank,
                              fixes.size() > 1 ? "; other ways: -v" : ""));
    return;
  }
  for (std::size_t i = 0; i < shown; ++i) {
    const std::string& action = fixes[i].action;
    page.Labelled(i == 0 ? "Do" : "or", kIndent, kFindingColumn,
                  i == 0 ? action + InParentheses(effort, fixes.size() - shown) : action);
    const std::string& snippet = fixes[i].snippet;
    if (!snippet.empty()) page.Verbatim(snippet, kFindingColumn + 2, Ink::kGreen);
  }
  if (!all) return;
  const std::vector<std::string> links = LinksOf(fixes);
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

  // In one line: the first, and how many more there are.
  void WriteBriefly(Page& page) const {
    if (ids_.empty()) return;
    const std::string name = " (" + ids_.front() + ")";
    const std::string words =
        HowItRelates(report_, ids_.front()) + ExplainedText(report_, ids_.front());
    const std::string more =
        ids_.size() > 1 ? fmt::format(", and {} more: -v", ids_.size() - 1) : "";
    const int room = page.width() - kFindingColumn - DisplayWidth(name) - DisplayWidth(more);
    page.Line(std::string(kFindingColumn - 3, ' ') + "└─ " +
              page.Paint(CutEnd(words.substr(0, words.rfind(name)), room) + name, Ink::kPlain) +
              page.Paint(more, Ink::kDim));
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
  const bool fits = kFindingColumn + DisplayWidth(one_line) <= page.width();
  page.Line(label + page.Paint(fits ? one_line : id, Ink::kPlain));
  if (!fits && options.verbose)
    page.Line(std::string(kFindingColumn, ' ') + page.Paint("(" + why + ")", Ink::kPlain));
  const EffectTree effects(report, finding);
  if (options.verbose) {
    effects.Write(page, "", "");
  } else {
    effects.WriteBriefly(page);
  }
}

// What the saving assumes, and what the confidence rests on.
std::string GainText(const Finding& finding) {
  const std::string basis = BasisText(finding);
  std::vector<std::string> parts;
  if (finding.AtStake() > 0 && !basis.empty()) parts.push_back("assumes: " + basis);
  if (!finding.confidence_from.empty())
    parts.push_back(fmt::format("confidence {}: {}", FormatQuantity(finding.confidence, "share"),
                                finding.confidence_from));
  return fmt::format("{}", fmt::join(parts, ". "));
}

}  // namespace

void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options) {
  const std::string title = finding.Title();
  std::string lead = page.Paint(fmt::format("{:>2}  ", finding.rank), InkOf(finding.severity));
  for (const std::string& line : WrapWords(title, page.width() - kIndent)) {
    page.Line(lead + page.Paint(line, Ink::kBold));
    lead = std::string(kIndent, ' ');
  }
  page.Wrapped(SavingText(report, finding) + "; " + SeverityText(finding), kIndent,
               InkOf(finding.severity));
  if (!finding.symptom.empty()) page.Labelled("Seen", kIndent, kFindingColumn, finding.Seen());
  const std::string where = WhereText(report, finding.where);
  if (!where.empty()) page.Labelled("Where", kIndent, kFindingColumn, where);
  if (IsMostlyTaken(finding) && !options.verbose && !options.all_fixes)
    return WriteRule(page, report, finding, options);
  if (!finding.cause.empty()) {
    page.Labelled("Why", kIndent, kFindingColumn,
                  options.verbose ? finding.cause : FirstSentence(finding.cause));
  }
  WriteFixes(page, report, finding, options);
  const std::string gain = options.verbose ? GainText(finding) : "";
  if (!gain.empty()) page.Labelled("Gain", kIndent, kFindingColumn, gain);
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
