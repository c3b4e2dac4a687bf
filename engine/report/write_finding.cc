#include "engine/report/write_finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "engine/advice/audience.h"
#include "engine/advice/describe.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/report/check_text.h"
#include "engine/report/finding_text.h"
#include "engine/report/first_clause.h"
#include "engine/report/shell.h"
#include "engine/report/where_text.h"

namespace advise {
namespace {

constexpr int kIndent = 4;  // under the title
constexpr std::size_t kLinks = 2;
constexpr int kFindingColumn = 11;        // where the words after "Seen", "Why" … begin
constexpr int kCodeIndent = kIndent + 2;  // most code then fits in 80 columns

Ink InkOf(Severity severity) {
  if (severity >= Severity::kHigh) return Ink::kRed;
  return severity == Severity::kMedium ? Ink::kYellow : Ink::kCyan;
}

// The links of the fixes, each once, those of the first fix first.
std::vector<std::string> LinksOf(const std::vector<Fix>& fixes) {
  std::vector<std::string> links;
  for (const Fix& fix : fixes) {
    for (const Link& link : fix.links) {
      if (!IsIn(link.url, links)) links.push_back(link.url);
    }
  }
  return links;
}

std::string InParentheses(const std::string& words) {
  return words.empty() ? "" : fmt::format(" ({})", words);
}

// All fixes, the best one first, with the links.
void WriteFixes(Page& page, const Finding& finding, const std::vector<Fix>& fixes) {
  for (const Fix& fix : fixes) {
    const bool first = &fix == &fixes.front();
    page.Labelled(
        first ? "Do" : "or", kIndent, kFindingColumn,
        first ? fix.action + InParentheses(EffortWords(EffortOf(finding, fix))) : fix.action);
    page.Verbatim(fix.snippet, kCodeIndent, Ink::kGreen);
  }
  const std::vector<std::string> links = LinksOf(fixes);
  for (std::size_t i = 0; i < std::min(kLinks, links.size()); ++i) {
    page.Labelled(i == 0 ? "See" : "", kIndent, kFindingColumn, links[i]);
  }
}

// The label of a line that is not wrapped.
std::string LabelOfLine(const Page& page, const std::string& label) {
  return std::string(kIndent, ' ') + page.Paint(label, Ink::kDim) +
         std::string(kFindingColumn - kIndent - label.size(), ' ');
}

void WriteCheck(Page& page, const Report& report, const Finding& finding) {
  if (const Evidence* const item = CheckedByCommand(report, finding); item != nullptr) {
    page.Line(LabelOfLine(page, "Check") + page.Paint(CheckCommand(report, *item), Ink::kPlain));
  } else if (const Evidence* const span = CheckedBySearch(finding); span != nullptr) {
    page.Labelled("Check", kIndent, kFindingColumn, SearchText(*span));
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
        const bool here = effect != id && IsIn(effect, ids_);
        if (here && !Above(effect, id)) parent_.emplace(effect, id);
      }
    }
  }

  // In one line: the rules that fit, and how many more there are.
  void WriteBriefly(Page& page) const {
    std::vector<std::string> ids;  // of the rest, a part only is covered
    for (const std::string& id : ids_) {
      if (OwnFinding(report_, id) == nullptr) ids.push_back(id);
    }
    if (ids.empty()) return;
    const auto more = [&](std::size_t shown) {
      return shown == ids.size() ? "" : fmt::format(", and {} more: -v", ids.size() - shown);
    };
    std::string words = "covers: " + ids.front();
    std::size_t shown = 1;
    const int room = page.width() - kFindingColumn;
    for (; shown < ids.size(); ++shown) {
      const std::string longer = words + ", " + ids[shown];
      if (DisplayWidth(longer) + DisplayWidth(more(shown + 1)) > room) break;
      words = longer;
    }
    page.Line(std::string(kFindingColumn - 3, ' ') + "└─ " + page.Paint(words, Ink::kPlain) +
              page.Paint(more(shown), Ink::kDim));
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

// How the rule reached it, and the commands that check it.
std::string WhyCommand(const Report& report, const Finding& finding, const TextOptions& options) {
  std::string reports = options.reports_argument;
  if (reports.empty() && !report.inputs.empty()) reports = ShellQuote(report.inputs.front().path);
  return fmt::format("advise why {} {}", finding.rule->id, reports);
}

void WriteRule(Page& page, const Report& report, const Finding& finding,
               const TextOptions& options) {
  if (finding.rule == nullptr) return;
  const std::string& id = finding.rule->id;
  const std::string why = WhyCommand(report, finding, options);
  const std::string one_line = fmt::format("{}   ({})", id, why);
  const bool fits = kFindingColumn + DisplayWidth(one_line) <= page.width();
  page.Line(LabelOfLine(page, "Rule") + page.Paint(fits ? one_line : id, Ink::kPlain));
  if (!fits && options.verbose)
    page.Line(std::string(kFindingColumn, ' ') + page.Paint("(" + why + ")", Ink::kPlain));
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

void WriteTitle(Page& page, const Report& report, const Finding& finding) {
  const std::string title = finding.Title();
  std::string lead = page.Paint(fmt::format("{:>2}  ", finding.rank), InkOf(finding.severity));
  for (const std::string& line : WrapWords(title, page.width() - kIndent)) {
    page.Line(lead + page.Paint(line, Ink::kBold));
    lead = std::string(kIndent, ' ');
  }
  page.Wrapped(SavingText(report, finding) + "; " + SeverityText(finding), kIndent,
               InkOf(finding.severity));
}

void WriteSeen(Page& page, const std::string& seen) {
  if (!seen.empty()) page.Labelled("Seen", kIndent, kFindingColumn, seen);
}

// Names that no line holds are cut out of their middle: their whole stands under `advise why`.
std::string WithShortNames(const std::string& text, int room) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(CutMiddle(text.substr(at, end - at), room));
    at = end + 1;
  }
  return fmt::format("{}", fmt::join(words, " "));
}

void WriteWhere(Page& page, const Report& report, const Finding& finding) {
  const std::string where = WhereText(report, finding.where);
  if (!where.empty()) page.Labelled("Where", kIndent, kFindingColumn, where);
}

// All that is said of it.
void WriteInFull(Page& page, const Report& report, const Finding& finding,
                 const TextOptions& options) {
  WriteTitle(page, report, finding);
  WriteSeen(page, finding.symptom.empty() ? "" : finding.Seen());
  WriteWhere(page, report, finding);
  if (!finding.cause.empty()) page.Labelled("Why", kIndent, kFindingColumn, finding.cause);
  WriteFixes(page, finding,
             options.all_fixes ? finding.fixes : FixesFor(report.run, finding.fixes));
  const std::string gain = GainText(finding);
  if (!gain.empty()) page.Labelled("Gain", kIndent, kFindingColumn, gain);
  WriteCheck(page, report, finding);
  WriteRule(page, report, finding, options);
  EffectTree(report, finding).Write(page, "", "");
}

// What stands in a finding of few lines, in the order in which it is printed. The rest of what was
// seen, the code and whatever else is no answer to "what do I do" take the room that is left.
class FewLines {
 public:
  FewLines(const Page& page, const Report& report, const Finding& finding,
           const TextOptions& options, const FindingRoom& room)
      : page_(page), report_(report), finding_(finding), options_(options), room_(room) {
    if (!finding.symptom.empty()) {
      sentences_ = Sentences(finding.ShownSymptom());
      won_ = finding.Won();
    }
    const std::vector<Fix> fixes = FixesFor(report.run, finding.fixes);
    if (!fixes.empty()) {
      fix_ = fixes.front();
      same_ = WithTheSameFix(report, finding, fix_);
    }
    if (!finding.cause.empty()) why_ = Sentences(finding.cause).front();
    says_why_ = room.cause;
    where_ = finding.where.in_turns;  // else the numbers seem to be those of the job
    if (room.terse && Written().rows() > room.rows) {
      fix_.action = FirstClause(fix_.action);
      if (fix_.action.ends_with('.')) fix_.action.pop_back();  // no action has a full stop
    }
    if (says_why_ && finding.severity == Severity::kLow) KeepWhereItFits(&FewLines::says_why_);
    if (says_why_ && Written().rows() > room_.rows) TryFirstClause(&FewLines::says_why_);
    // What matters most first.
    if (IsFarBelow(finding) && SaysShare()) KeepWhereItFits(&FewLines::says_won_);
    if (!finding.where.figures.empty() || IsOfSomeRanks(report, finding.where))
      KeepWhereItFits(&FewLines::where_);
    KeepWhereItFits(&FewLines::code_);
    if (!code_ && !fix_.snippet.empty()) TryFirstClause(&FewLines::code_);
    if (!room.cause) {
      KeepWhereItFits(&FewLines::says_why_);
      if (!says_why_) TryFirstClause(&FewLines::says_why_);
    }
    if (SaysShare()) KeepWhereItFits(&FewLines::says_won_);
    if (!says_won_ && finding.GoesBeyond() && SaysShare()) TryFirstClause(&FewLines::says_won_);
    KeepWhereItFits(&FewLines::where_);
    if (room_.commands) KeepWhereItFits(&FewLines::check_);
    while (shown_ < sentences_.size() && ShowsOneMore()) continue;
    KeepWhereItFits(&FewLines::effects_);
  }

  Page Written() const {
    Page page = page_.Another();
    WriteTitle(page, report_, finding_);
    const auto end = sentences_.begin() + static_cast<std::ptrdiff_t>(shown_);
    WriteSeen(page, WithShortNames(fmt::format("{}{}", fmt::join(sentences_.begin(), end, " "),
                                               says_won_ ? won_ : ""),
                                   page.width() - kFindingColumn));
    if (where_) WriteWhere(page, report_, finding_);
    WriteWhyAndFix(page);
    WriteHowToCheck(page);
    if (effects_) EffectTree(report_, finding_).WriteBriefly(page);
    return page;
  }

 private:
  // The fix wins so little of what was seen that a reader must be told.
  static bool IsFarBelow(const Finding& finding) {
    constexpr double kPart = 0.25;  // layout only
    return finding.falls_short && finding.ShownShare() < kPart * finding.touched_share;
  }

  // Whether a sentence that is shown names the share that the fix wins far less or more than; what
  // names none is all compared.
  bool SaysShare() const {
    std::size_t named = 0;
    while (named < sentences_.size() && !ShareNamed(sentences_[named])) ++named;
    return named == sentences_.size() || named < shown_;
  }

  // A sentence that names a share comes with what the fix wins of it.
  bool ShowsOneMore() {
    const bool said = says_won_;
    ++shown_;
    if (SaysShare()) says_won_ = true;
    if (Written().rows() <= room_.rows) return true;
    --shown_;
    says_won_ = said;
    return false;
  }

  // Beside the cause up to where it goes on with what follows from it.
  void TryFirstClause(bool FewLines::*part) {
    const std::string whole = std::exchange(why_, FirstClause(why_));
    KeepWhereItFits(part);
    if (!(this->*part)) why_ = whole;
  }

  void KeepWhereItFits(bool FewLines::*part) {
    this->*part = true;
    this->*part = Written().rows() <= room_.rows;
  }

  void WriteWhyAndFix(Page& page) const {
    if (says_why_ && !why_.empty()) page.Labelled("Why", kIndent, kFindingColumn, why_);
    if (fix_.action.empty()) return;
    if (same_ != nullptr) {
      page.Labelled("Do", kIndent, kFindingColumn,
                    fmt::format("{} (the fix of {})", fix_.action, same_->rank));
      return;
    }
    const bool left_out = !fix_.snippet.empty() && !code_;
    std::string aside = room_.terse ? "" : EffortWords(EffortOf(finding_, fix_));
    if (left_out) aside += aside.empty() ? "example: -v" : "; example: -v";
    std::string action = fix_.action;
    if (!aside.empty() && action.ends_with('.')) action.pop_back();
    page.Labelled("Do", kIndent, kFindingColumn, action + InParentheses(aside));
    if (code_) page.Verbatim(fix_.snippet, kCodeIndent, Ink::kGreen);
  }

  // The command itself where there is room for it, else that which prints it.
  void WriteHowToCheck(Page& page) const {
    if (check_) WriteCheck(page, report_, finding_);
    if (finding_.rule == nullptr) return;
    if (check_) {
      WriteRule(page, report_, finding_, options_);
    } else {
      std::string why = WhyCommand(report_, finding_, options_);
      if (room_.terse && kFindingColumn + DisplayWidth(why) > page.width())
        why = fmt::format("advise why {} REPORT", finding_.rule->id);
      page.Line(LabelOfLine(page, "Check") + page.Paint(why, Ink::kPlain));
    }
  }

  const Page& page_;
  const Report& report_;
  const Finding& finding_;
  const TextOptions& options_;
  const FindingRoom room_;
  std::vector<std::string> sentences_;
  Fix fix_;
  const Finding* same_ = nullptr;
  std::size_t shown_ = 1;
  std::string why_;
  std::string
      won_;  // " This fix would save 2 % of the time …", where that is far from what was seen
  bool says_why_ = true, says_won_ = false, code_ = false, where_ = false, check_ = false,
       effects_ = false;
};

}  // namespace

void WriteFinding(Page& page, const Report& report, const Finding& finding,
                  const TextOptions& options, const FindingRoom& room) {
  if (options.verbose || options.all_fixes) {
    WriteInFull(page, report, finding, options);
  } else {
    page.Append(FewLines(page, report, finding, options, room).Written());
  }
}

void WriteFindingLine(Page& page, const Report& report, const Finding& finding) {
  const std::string title = finding.Title();
  const std::string id = finding.rule == nullptr ? "" : finding.rule->id;
  // Where two amounts are told, shares alone leave more room for the title.
  const bool two = IsMostlyTaken(finding) || finding.DiffersUnprofiled() || finding.saving_s <= 0;
  std::string saving = two ? SavingShares(finding) : SavingAmount(finding);
  if (const std::string needless = NeedlessText(report, finding); !needless.empty())
    saving = needless;
  if (saving.empty()) saving = "-";
  const int room =
      std::max(16, page.width() - kIndent - DisplayWidth(saving) - DisplayWidth(id) - 4);
  page.Line(page.Paint(fmt::format("{:>2}  ", finding.rank), InkOf(finding.severity)) +
            page.Paint(PadRight(CutEnd(SafeText(title), room), room), Ink::kPlain) + "  " +
            page.Paint(saving, Ink::kPlain) + "  " + page.Paint(id, Ink::kDim));
}

}  // namespace advise
