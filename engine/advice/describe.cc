#include "engine/advice/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "engine/advice/only_fix.h"
#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/replay/replay.h"

namespace advise {

// Stands for a share of exactly 1 until the sentence is known; no text holds it.
constexpr char kWhole = '\x01';
constexpr char kNearlyWhole = '\x02';  // the same of what only rounds to 100 %

Severity SeverityOfShare(double share, const Knowledge& knowledge) {
  if (share < knowledge.Number("ranking.info_share")) return Severity::kInfo;
  if (share >= knowledge.Number("ranking.critical_share")) return Severity::kCritical;
  if (share >= knowledge.Number("ranking.high_share")) return Severity::kHigh;
  if (share >= knowledge.Number("ranking.medium_share")) return Severity::kMedium;
  return Severity::kLow;
}

// Nothing but lost time tells of it, most of that is the profiler's own cost, and the rest is no
// more than what the estimate of that cost may be wrong by.
bool IsOfProfiler(const Finding& finding, const Knowledge& knowledge) {
  const double rest = *finding.unprofiled_share;
  return finding.rule->kind == RuleKind::kSymptom &&
         rest < knowledge.Number("ranking.profiler_error") &&
         rest < knowledge.Number("ranking.needless") * finding.saving_share;
}

// A symptom leaves it to the reader to find the cause, for a gain that no step would show.
bool IsSlight(const Finding& finding, const Knowledge& knowledge) {
  const double alone = finding.unprofiled_alone_share.value_or(finding.alone_share);
  return finding.rule->kind == RuleKind::kSymptom &&
         std::max(finding.unprofiled_share.value_or(finding.saving_share), alone) <
             knowledge.Number("ranking.worth_telling");
}

Severity SeverityInPlan(const Finding& finding, const Knowledge& knowledge) {
  if (IsSlight(finding, knowledge)) return Severity::kInfo;
  if (finding.unprofiled_share) {
    return IsOfProfiler(finding, knowledge) ? Severity::kInfo
                                            : SeverityOfShare(*finding.unprofiled_share, knowledge);
  }
  const Severity in_plan = SeverityOfShare(finding.saving_share, knowledge);
  if (in_plan != Severity::kInfo) return in_plan;
  const double alone = finding.unprofiled_alone_share.value_or(finding.alone_share);
  return std::min(Severity::kLow, SeverityOfShare(alone, knowledge));
}

void RaiseByRisk(const Knowledge& knowledge, Finding* finding) {
  if (finding->rule->risk == Risk::kNothing) return;
  finding->severity = std::max(finding->severity,
                               SeverityOfShare(knowledge.Number("ranking.risk_share"), knowledge));
}

// Behind a preposition, "every step" says it better than "all of the steps".
bool ReplaceByEvery(std::size_t at, std::size_t noun, std::string* text) {
  const std::string before = text->substr(0, at);
  const bool behind = before.ends_with("In ") || before.ends_with("At ") ||
                      before.ends_with(" in ") || before.ends_with(" for ");
  for (const auto& [many, one] : {std::pair("steps", "step"), std::pair("launches", "launch")}) {
    if (!behind || text->compare(noun, std::strlen(many), many) != 0) continue;
    text->replace(at, noun + std::strlen(many) - at, std::string("every ") + one);
    return true;
  }
  return false;
}

// "In 100 % of the steps" is in every step, and "100 % of the loads" are all loads.
std::string WithAllInWords(std::string text) {
  const std::string whole = std::string(1, kWhole) + " of the ";
  const auto starts_sentence = [&text](std::size_t at) {
    return at == 0 || (at > 1 && text.compare(at - 2, 2, ". ") == 0);
  };
  for (std::size_t at = text.find(kNearlyWhole); at != std::string::npos;
       at = text.find(kNearlyWhole, at))
    text.replace(at, 1, starts_sentence(at) ? "More than 99 %" : "more than 99 %");
  for (std::size_t at = text.find(kWhole); at != std::string::npos; at = text.find(kWhole, at)) {
    // The text may end right behind it.
    const std::size_t behind = std::min(at + whole.size(), text.size());
    const bool of_time = text.compare(behind, 4, "time") == 0;
    const bool in_words = text.compare(at, whole.size(), whole) == 0 && !of_time;
    const bool starts = starts_sentence(at);
    if (in_words && ReplaceByEvery(at, at + whole.size(), &text)) continue;
    const std::size_t noun = at + whole.size();
    const std::size_t end = std::min(text.find_first_of(" ,.;:", noun), text.size());
    const char last = end > noun ? text[end - 1] : ' ';
    const bool counted = in_words && (last == 's' || IsDigit(last));  // "all loads"
    text.replace(at, counted ? whole.size() - 1 : 1, !in_words ? "100 %" : starts ? "All" : "all");
  }
  return text;
}

std::string FilledTemplate(const std::string& text, const Verdict& verdict) {
  return WithAllInWords(FillTemplate(
      text, [&](std::string_view name, std::string_view kind) -> std::optional<std::string> {
        const auto found = verdict.evidence.find(std::string(name));
        if (found == verdict.evidence.end()) return std::nullopt;
        if (const auto* number = std::get_if<double>(&found->second)) {
          if (kind == "bytes" && *number == 0) return "nothing";
          if (kind == "pct" && *number == 1) return std::string(1, kWhole);
          if (kind == "pct" && *number < 1 && FormatQuantity(*number, kind) == "100 %")
            return std::string(1, kNearlyWhole);
          return FormatQuantity(*number, kind);
        }
        return TextInPlace(std::get<std::string>(found->second), kind);
      }));
}

// Whether the first and worst of what was found has the reason that the fix is for, if any.
bool FitsTheWorst(const Fix& fix, const Verdict& verdict) {
  if (fix.reason.empty()) return true;
  const auto own = verdict.evidence.find("reason");
  if (fix.reason.starts_with('!')) {
    return own == verdict.evidence.end() || own->second != Cell(fix.reason.substr(1));
  }
  return own == verdict.evidence.end() || own->second == Cell(fix.reason);
}

// Whether anything that was found gives the reason that the fix is for.
bool Fits(const Fix& fix, const Verdict& verdict) {
  const auto own = verdict.evidence.find("reason");
  if (own != verdict.evidence.end() && FitsTheWorst(fix, verdict)) return true;
  if (fix.reason.empty()) return true;
  if (fix.reason.starts_with('!')) return FitsTheWorst(fix, verdict);
  const std::pair<std::string, Cell> cell("reason", Cell(fix.reason));
  for (const auto& [name, rows] : verdict.tables) {
    for (const Row& row : rows) {
      if (IsIn(cell, row)) return true;
    }
  }
  return false;
}

std::vector<Fix> FilledFixes(const Verdict& verdict, const Knowledge& knowledge) {
  std::vector<Fix> fixes;
  for (Fix fix : verdict.rule->fixes) {
    if (!Fits(fix, verdict)) continue;
    const bool has_words = !fix.action.empty();
    fix.action = FilledTemplate(fix.action, verdict);
    if (has_words && fix.action.empty()) continue;  // the rule has nothing to say in its place
    fix.snippet = FillCode(fix.snippet, [&](std::string_view name) -> std::optional<std::string> {
      const auto found = verdict.evidence.find(std::string(name));
      if (found == verdict.evidence.end()) return std::nullopt;
      return std::get<std::string>(found->second);
    });
    for (const std::string& key : verdict.rule->references) {
      const Reference* reference = knowledge.FindReference(key);
      if (reference == nullptr) continue;
      const bool listed = std::any_of(fix.links.begin(), fix.links.end(),
                                      [&](const Link& link) { return link.url == reference->url; });
      if (!listed) fix.links.push_back({reference->url, reference->programs});
    }
    fixes.push_back(std::move(fix));
  }
  std::stable_partition(fixes.begin(), fixes.end(),
                        [&](const Fix& fix) { return FitsTheWorst(fix, verdict); });
  return fixes;
}

namespace {

// What only looks for the thing to change changes nothing itself.
bool OnlyLooks(const std::string& action) {
  static constexpr std::array kStarts = {
      "Analyze ",  "Check that ", "Collect ", "Compare ", "Confirm ", "Find ", "Look at ",
      "Look for ", "Measure ",    "Open ",    "Profile ", "See ",     "Time "};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [&](const char* start) { return action.starts_with(start); });
}

// Lines that start a statement, neither continued nor in a block, and no comment; what opens a
// block is one more, since statements have to be moved into it.
std::size_t Statements(const std::string& code) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < code.size();) {
    const std::size_t end = std::min(code.find('\n', at), code.size());
    const bool starts = end > at && code[at] != ' ' && code[at] != '#';
    if (starts) count += code[end - 1] == ':' ? 2 : 1;
    at = end + 1;
  }
  return count;
}

}  // namespace

std::string EffortOfFix(const RuleInfo& rule, const Fix& fix) {
  if (!fix.effort.empty()) return fix.effort;
  if (fix.language == "bash" || OnlyLooks(fix.action)) return "";
  if (rule.effort != "flag") return rule.effort;
  // What is a setting of a framework is code where a program has to do it, or several changes are
  // to be made; without code it is either.
  if (fix.snippet.empty()) return "";
  return fix.language == "cpp" || Statements(fix.snippet) > 1 ? "code" : "flag";
}

std::string FirstEffort(const RuleInfo& rule, const std::vector<Fix>& fixes) {
  const std::string effort = fixes.empty() ? "" : EffortOfFix(rule, fixes.front());
  return effort.empty() ? rule.effort : effort;
}

void CompareWithSaving(const Knowledge& knowledge, Finding* finding) {
  const double won = std::max(finding->AtStake(), finding->unprofiled_share.value_or(0));
  // A symptom without a share promises nothing that the saving could fall short of.
  const auto places = TemplatePlaces(finding->rule->symptom);
  const bool promises = ShareNamed(finding->symptom) ||
                        std::any_of(places.begin(), places.end(),
                                    [](const auto& place) { return place.second == "pct"; });
  // Work whose call is missing stays where it was in a replay: that it wins nothing says nothing.
  const bool unknown =
      won == 0 && finding->unlinked >= knowledge.Number("ranking.unlinked_unpriced");
  finding->falls_short = promises && !unknown && finding->rule->kind != RuleKind::kInfo &&
                         finding->touched_share - won >= knowledge.Number("ranking.info_share") &&
                         won < knowledge.Number("ranking.falls_short") * finding->touched_share;
}

bool Finding::DiffersAlone() const {
  // Layout only: of the window, and of the larger one.
  constexpr double kApart = 0.01;
  constexpr double kApartOf = 0.2;
  const double apart = std::abs(alone_share - saving_share);
  return turn != 1 && apart >= kApart && apart >= kApartOf * AtStake();
}

bool LimitsOnlyAlone(const Finding& finding) {
  if (finding.bound_alone.empty() || finding.turn == 1) return false;
  return finding.next_bound.empty() ? finding.DiffersAlone()
                                    : finding.next_bound != finding.bound_alone;
}

bool Finding::DiffersUnprofiled() const {
  // Layout only: of the window, and of the saving.
  constexpr double kApart = 0.01;
  constexpr double kApartOf = 0.1;
  if (!unprofiled_share) return false;
  const double apart = std::abs(*unprofiled_share - saving_share);
  return apart >= kApart && apart >= kApartOf * saving_share;
}

bool Finding::HiddenByProfiler() const {
  return DiffersUnprofiled() && *unprofiled_share > 2 * saving_share &&
         *unprofiled_share > AtStake();
}

double Finding::ShownShare() const {
  return saving_share > 0 && !DiffersAlone() ? saving_share : AtStake();
}

// By more than percentages without decimals hide.
bool Finding::GoesBeyond() const {
  constexpr double kRounded = 0.005;  // layout only
  return severity != Severity::kInfo && touched_share > 0 &&
         ShownShare() > touched_share + kRounded;
}

std::optional<double> ShareNamed(const std::string& text) {
  static constexpr std::string_view kOfTheTime = " % of the time";
  std::optional<double> least;
  if (text.find("all of the time") != std::string::npos) least = 1;
  for (std::size_t at = text.find(kOfTheTime); at != std::string::npos;
       at = text.find(kOfTheTime, at + 1)) {
    const std::size_t before = text.find_last_not_of("0123456789.", at - 1);
    const std::size_t number = before == std::string::npos ? 0 : before + 1;
    const double share = std::strtod(text.c_str() + number, nullptr) / 100;
    least = std::min(least.value_or(share), share);
  }
  return least;
}

std::string Finding::ShownSymptom() const {
  constexpr double kSliver = 0.2;  // layout only: of the share that a sentence names
  if (!falls_short || HiddenByProfiler()) return symptom;
  const double won = std::max(ShownShare(), unprofiled_share.value_or(0));
  std::string told;
  for (const std::string& sentence : Sentences(symptom)) {
    if (!told.empty() && won < kSliver * ShareNamed(sentence).value_or(0)) continue;
    told += (told.empty() ? "" : " ") + sentence;
  }
  return told;
}

std::string Finding::Won() const {
  const auto percent = [](double share) { return FormatQuantity(share, "share"); };
  // What limits the recording says nothing, then.
  if (HiddenByProfiler()) {
    return !falls_short ? ""
                        : fmt::format(" This fix would save {} of a run without the profiler.",
                                      percent(*unprofiled_share));
  }
  const char* const of = DiffersUnprofiled() ? "this recording" : "the time";
  if (GoesBeyond()) {
    // Not by more than rounding shows, where the symptom names another share than what is claimed.
    if (symptom.find(percent(ShownShare()) + " of the time") != std::string::npos) return "";
    const bool frees_host =
        std::any_of(changes.begin(), changes.end(), [](const std::string& what) {
          return what == "launches" || what == "waits" || what == "host-code";
        });
    const char* const why =
        where.in_turns        ? ": the other ranks then do not wait for it"
        : where.others_wait   ? ": the other GPUs then do not wait for this one"
        : frees_host          ? ": the host then gets ahead of the GPU, and other gaps close, too"
        : !changes.empty()    ? ": what follows then starts sooner, and other gaps close, too"
        : where.ranks.empty() ? ""
                              : ": the waiting is an average over all ranks, and some do not wait";
    return fmt::format(" This fix would save {} of {}{}.", percent(ShownShare()), of, why);
  }
  // Nothing is left to compare with where each share that it falls short of is left out.
  const std::string told = ShownSymptom();
  if (!falls_short || (told != symptom && !ShareNamed(told))) return "";
  constexpr double kNothing = 0.001;  // layout only
  // Else the finding itself is what limits the GPU, and its fix wins a part of it.
  const bool other = !bound_alone.empty() && bound_alone != kBoundByGpu;
  std::string text = (other && LimitsOnlyAlone(*this) ? " By itself, this fix" : " This fix") +
                     std::string(" would save ") +
                     (ShownShare() < kNothing ? "almost nothing"
                                              : fmt::format("{} of {}", percent(ShownShare()), of));
  if (other) text += ", because " + bound_alone + " is then the limit";
  return text + ".";
}

std::string Finding::Title() const {
  if (!title.empty()) return title;
  return rule == nullptr ? symptom : rule->title;
}

double PriorOf(const RuleInfo& rule, const Knowledge& knowledge) {
  const auto& numbers = knowledge.numbers();
  const auto found = numbers.find("ranking.prior." + rule.id.substr(0, rule.id.find('/')));
  return found == numbers.end() ? 0 : found->second.value;
}

double ToldShare(const Verdict& verdict) {
  const auto found = verdict.evidence.find("share");
  if (verdict.rule->kind != RuleKind::kInfo || found == verdict.evidence.end()) return 0;
  const auto* const share = std::get_if<double>(&found->second);
  return share == nullptr ? 0 : *share;
}

void OrderFindings(std::vector<Finding>* findings, const Knowledge& knowledge) {
  const auto prior = [&](const Finding& finding) { return PriorOf(*finding.rule, knowledge); };
  std::stable_sort(findings->begin(), findings->end(), [&](const Finding& a, const Finding& b) {
    const bool a_info = a.severity == Severity::kInfo;
    const bool b_info = b.severity == Severity::kInfo;
    if (a_info != b_info) return b_info;
    // As planned; what wins nothing is in no plan.
    if ((a.turn == 0) != (b.turn == 0)) return b.turn == 0;
    if (a.turn != b.turn) return a.turn < b.turn;
    // Without a price, what endangers more comes first; and what someone could change comes before
    // what is only told.
    if (!a_info && a.severity != b.severity) return a.severity > b.severity;
    // What changes no program comes behind what is said of the program.
    if (a_info && (prior(a) < 0) != (prior(b) < 0)) return prior(b) < 0;
    if (a_info && a.rule->kind != b.rule->kind) return a.rule->kind < b.rule->kind;
    if (a_info && a.touched_share != b.touched_share) return a.touched_share > b.touched_share;
    if (prior(a) != prior(b)) return prior(a) > prior(b);
    if (!a_info && a.rule->priority != b.rule->priority) return a.rule->priority > b.rule->priority;
    if (a.confidence != b.confidence) return a.confidence > b.confidence;
    return a.rule->id < b.rule->id;
  });
  // Those that stand under their cause are numbered last: a list of the others has no holes.
  int rank = 0;
  for (const bool explained : {false, true}) {
    for (Finding& finding : *findings) {
      if (finding.UnderCause() == explained) finding.rank = ++rank;
    }
  }
}

}  // namespace advise
