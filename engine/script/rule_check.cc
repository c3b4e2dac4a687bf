#include "engine/script/rule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/advice/audience.h"
#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/script/rule_code.h"
#include "engine/script/stand_ins.h"
#include "engine/script/test_reader.h"

namespace advise {
namespace {

// What many runs on stand-ins have shown.
struct Seen {
  std::map<std::string, std::set<char>> evidence;  // name → 'n' number, 't' text, 'r' rows
  std::set<std::string> reasons;                   // the texts of the evidence "reason"
  std::set<std::string> thresholds;                // read in some run
  std::set<std::string> facts;                     // read in some run
  std::vector<std::set<std::string>> of_tests;     // evidence of each test that fires
  std::vector<Error> errors;
  bool fired = false;
};

Error ErrorOf(const std::string& reason, const std::string& path) {
  const std::size_t end = reason.find(": ", path.size());
  if (end == std::string::npos) return {reason, path, ""};
  return {reason.substr(end + 2), reason.substr(0, end), ""};
}

// Whether a rule that broke on stand-ins would break on facts, too. Stand-ins do not know which
// facts go together, so a value that is missing proves nothing; nor do columns of made-up rows.
bool IsProof(const std::string& reason) {
  for (const char* part :
       {"nil", "the row", "column", "no value", "absent", "not a finite", "is not a number",
        "limit reached", "empty interval", "wanted 0 to 1, got"}) {
    if (reason.find(part) != std::string::npos) return false;
  }
  return true;
}

// `true_facts`: they are a test's, and go together.
void Look(const RuleSet& rules, const RuleInfo& rule, const Facts& facts,
          std::optional<bool> comparisons, bool true_facts, Seen& seen) {
  const RuleSet::Trial trial = rules.Try(rule, facts, comparisons);
  seen.thresholds.insert(trial.thresholds.begin(), trial.thresholds.end());
  const Verdict& verdict = trial.verdict;
  for (const FactRead& read : verdict.reads) seen.facts.insert(read.name);
  const bool broken = verdict.outcome == Outcome::kBroken;
  if (broken && (true_facts || IsProof(verdict.reason))) {
    seen.errors.push_back(ErrorOf(verdict.reason, rule.path));
  }
  if (verdict.outcome != Outcome::kFired) return;
  seen.fired = true;
  std::set<std::string> names;
  for (const auto& [name, cell] : verdict.evidence) {
    names.insert(name);
    const auto* text = std::get_if<std::string>(&cell);
    seen.evidence[name].insert(text == nullptr ? 'n' : 't');
    if (text != nullptr && name == "reason") seen.reasons.insert(*text);
  }
  if (true_facts) seen.of_tests.push_back(std::move(names));
  for (const auto& [name, rows] : verdict.tables) seen.evidence[name].insert('r');
}

class TextChecker {
 public:
  TextChecker(const RuleInfo& rule, const RuleCode& code, const Seen& seen,
              std::vector<Error>& errors)
      : rule_(rule), code_(code), seen_(seen), errors_(errors) {
    for (const auto& [name, kinds] : seen.evidence) names_.push_back(name);
  }

  // Returns the evidence that no text shows and no function reads.
  std::vector<std::string> Check() {
    CheckPlaces("symptom", TemplatePlaces(rule_.symptom));
    CheckPlaces("cause", TemplatePlaces(rule_.cause));
    for (const Fix& fix : rule_.fixes) {
      CheckPlaces("fixes", TemplatePlaces(fix.action));
      CheckPlaces("fixes", CodePlaces(fix.snippet));
    }
    std::vector<std::string> unshown;
    for (const auto& [name, kinds] : seen_.evidence) {
      if (!shown_.contains(name) && !kinds.contains('r') && !code_.Reads(name)) {
        unshown.push_back(name);
      }
    }
    return unshown;
  }

 private:
  using Places = std::vector<std::pair<std::string, std::string>>;
  void CheckPlaces(const char* field, const Places& places) {
    for (const auto& [name, kind] : places) {
      shown_.insert(name);
      const std::string place = fmt::format("{{{}:{}}}", name, kind);
      const auto evidence = seen_.evidence.find(name);
      if (evidence == seen_.evidence.end()) {
        Say(field, fmt::format("{} has no evidence: it is {}", place, fmt::join(names_, ", ")),
            Suggestion(name, names_));
      } else if (evidence->second.contains('r')) {
        Say(field, fmt::format("{}: evidence \"{}\" is rows", place, name), "");
      } else if (evidence->second.contains(IsText(kind) ? 'n' : 't')) {
        Say(field,
            fmt::format("{}: evidence \"{}\" is a {}", place, name,
                        IsText(kind) ? "number" : "text"),
            IsText(kind) ? "num, count, pct …" : fmt::format("{{{}:text}}", name));
      } else if (std::any_of(seen_.of_tests.begin(), seen_.of_tests.end(),
                             [&name = name](const auto& names) { return !names.contains(name); })) {
        Say(field, fmt::format("{}: in one of the tests there is no evidence \"{}\"", place, name),
            "");
      }
    }
  }

  void Say(const char* field, std::string what, std::string hint) {
    errors_.push_back({fmt::format("{}: {}", field, what),
                       fmt::format("{}:{}", rule_.path, code_.LineOfField(field)),
                       std::move(hint)});
  }

  const RuleInfo& rule_;
  const RuleCode& code_;
  const Seen& seen_;
  std::vector<Error>& errors_;
  std::vector<std::string> names_;
  std::set<std::string> shown_;
};

// What the programs of a fix may be called.
std::vector<std::string> KnownPrograms(const Knowledge& knowledge) {
  std::vector<std::string> known = OtherAudiences();
  for (const RunSign& sign : knowledge.run_signs()) {
    if (sign.about != RunSign::About::kKind) known.push_back(Lower(sign.rule.value));
    for (const std::string& language : sign.languages) known.push_back(Lower(language));
  }
  return known;
}

void CheckFixes(const RuleSet& rules, const RuleInfo& rule, const RuleCode& code, const Seen& seen,
                std::vector<Error>& errors) {
  const std::string where = fmt::format("{}:{}", rule.path, code.LineOfField("fixes"));
  const std::vector<std::string> programs = KnownPrograms(rules.knowledge());
  // Where facts tell the reason, stand-ins and tests do not know all of them.
  const bool of_facts = std::any_of(seen.reasons.begin(), seen.reasons.end(),
                                    [&](const std::string& reason) { return !code.Says(reason); });
  for (const Fix& fix : rule.fixes) {
    for (const std::string& program : fix.programs) {
      if (IsIn(program, programs)) continue;
      errors.push_back({fmt::format("fixes: no program is called \"{}\"", program), where,
                        Suggestion(program, programs)});
    }
    const std::string_view reason =
        std::string_view(fix.reason).substr(fix.reason.starts_with('!') ? 1 : 0);
    const bool given = reason.empty() || of_facts || code.Says(reason);
    if (!given && seen.fired) {
      errors.push_back(
          {fmt::format("fixes: the evidence \"reason\" is never \"{}\"", reason), where, ""});
    }
  }
}

int LineOf(const Error& error) {
  const std::size_t colon = error.where.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(error.where.c_str() + colon + 1);
}

}  // namespace

RuleCheck CheckRule(const RuleSet& rules, const RuleInfo& rule) {
  RuleCheck check;
  std::vector<Error>& errors = check.problems;
  RuleCode code(rule, errors);
  code.Check();

  Seen seen;
  std::vector<Error> misspelt;  // in tests: their own check says so
  const std::vector<RuleTest> tests = rules.Tests(rule, misspelt);
  for (const RuleTest& test : tests) {
    for (const auto comparisons : {std::optional<bool>(), std::optional<bool>(true)}) {
      Look(rules, rule, MapFacts(test.facts), comparisons, !comparisons, seen);
    }
  }
  StandIns stand_ins(rule, rules.catalog(), tests, code.Texts());
  for (int run = 0; run < StandIns::kRuns; ++run) {
    Look(rules, rule, MapFacts(stand_ins.Make(run)), run % 4 != 3, false, seen);
  }

  for (const std::string& name : rule.thresholds) {
    if (code.Reads(name) || seen.thresholds.contains(name)) continue;
    errors.push_back({fmt::format("thresholds: nothing reads \"{}\"", name),
                      fmt::format("{}:{}", rule.path, code.LineOfField("thresholds")), ""});
  }
  // What the functions make of it comes too late where it does not hold. Shares of other times are
  // often compared with the same threshold.
  for (const std::string& name : rules.DeclaredLimits(rule)) {
    if (!code.Reads(name) || name.substr(4) == "share") continue;
    errors.push_back({fmt::format("thresholds: \"{}\" is compared with \"{}\" before the functions "
                                  "run; one that they compare needs another name",
                                  name, name.substr(4)),
                      fmt::format("{}:{}", rule.path, code.LineOfField("thresholds")), ""});
  }
  // What a rule needs may be a condition and no more.
  for (const std::string& name : rule.optional) {
    if (code.ReadsFact(name) || seen.facts.contains(name)) continue;
    errors.push_back({fmt::format("optional: nothing reads \"{}\"", name),
                      fmt::format("{}:{}", rule.path, code.LineOfField("optional")), ""});
  }
  CheckFixes(rules, rule, code, seen, errors);
  if (seen.fired) check.unshown = TextChecker(rule, code, seen, errors).Check();
  for (Error& error : seen.errors) {
    const bool known = std::any_of(errors.begin(), errors.end(),
                                   [&](const Error& one) { return one.where == error.where; });
    if (!known) errors.push_back(std::move(error));
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Error& a, const Error& b) { return LineOf(a) < LineOf(b); });
  return check;
}

}  // namespace advise
