#include "engine/script/rule_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "engine/base/text.h"
#include "engine/script/lua_tokens.h"
#include "engine/script/stand_ins.h"
#include "engine/script/test_reader.h"

namespace advise {
namespace {

using Kind = LuaToken::Kind;

bool Is(const LuaToken& token, std::string_view text) {
  return token.kind != Kind::kText && token.text == text;
}

std::string Near(const std::string& name, const std::vector<std::string>& known) {
  const std::string near = DidYouMean(name, known);
  return near.empty() ? "" : fmt::format("did you mean \"{}\"?", near);
}

// The tokens of a rule's file without those of its tests.
std::vector<LuaToken> CodeOf(const RuleInfo& rule) {
  std::vector<LuaToken> tokens = LuaTokens(rule.source);
  for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
    if (!Is(tokens[i], "tests") || !Is(tokens[i + 1], "=") || !Is(tokens[i + 2], "{")) continue;
    std::size_t end = i + 2;
    for (int depth = 0; end < tokens.size(); ++end) {
      if (Is(tokens[end], "{")) ++depth;
      if (Is(tokens[end], "}") && --depth == 0) break;
    }
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i),
                 tokens.begin() + static_cast<std::ptrdiff_t>(std::min(end + 1, tokens.size())));
    break;
  }
  return tokens;
}

// Reads the code of one rule word by word.
class CodeReader {
 public:
  CodeReader(const RuleInfo& rule, std::vector<Error>& errors)
      : rule_(rule), errors_(errors), code_(CodeOf(rule)), declared_(rule.needs) {
    declared_.insert(declared_.end(), rule.optional.begin(), rule.optional.end());
  }

  void Check() {
    for (at_ = 0; at_ < code_.size(); ++at_) {
      CheckComparison();
      CheckCall();
      ReadParameters();
      CheckFact();
    }
  }

  // Whether the code reads `t.name` or `e.name`; `f.group.name` is something else.
  bool Reads(std::string_view name) const {
    for (std::size_t i = 2; i < code_.size(); ++i) {
      if (code_[i].kind != Kind::kName || code_[i].text != name) continue;
      if (Is(code_[i - 1], ".") && !Is(At(i - 3), ".")) return true;
    }
    return false;
  }

  // The texts in the code, without those of the fields that hold no code.
  std::vector<std::string> Texts() const {
    std::vector<std::string> texts;
    for (std::size_t i = 1; i < code_.size(); ++i) {
      const bool compared = Is(code_[i - 1], "==") || Is(code_[i - 1], "~=");
      if (code_[i].kind == Kind::kText && compared) texts.emplace_back(code_[i].text);
    }
    return texts;
  }

  int LineOfField(std::string_view name) const {
    for (std::size_t i = 0; i + 1 < code_.size(); ++i) {
      if (Is(code_[i], name) && Is(code_[i + 1], "=")) return code_[i].line;
    }
    return 0;
  }

 private:
  void Say(int line, std::string what, std::string hint = "") {
    errors_.push_back({std::move(what), fmt::format("{}:{}", rule_.path, line), std::move(hint)});
  }

  const LuaToken& At(std::size_t index) const {
    static const LuaToken kNone;
    return index < code_.size() ? code_[index] : kNone;
  }

  // None, one, several: counts that are no matter of taste.
  static bool IsPlainCount(std::string_view number) {
    return number == "0" || number == "1" || number == "2";
  }

  void SayNumber(const LuaToken& number) {
    Say(number.line, fmt::format("the number {} decides here, but stands in the code", number.text),
        "make it a threshold: at_least(x, t.min_…), at_most(x, t.max_…)");
  }

  void CheckComparison() {
    const LuaToken& sign = At(at_);
    if (!Is(sign, "<") && !Is(sign, ">") && !Is(sign, "<=") && !Is(sign, ">=")) return;
    for (const LuaToken& side : {At(at_ - 1), At(at_ + (Is(At(at_ + 1), "-") ? 2 : 1))}) {
      if (side.kind == Kind::kNumber && !IsPlainCount(side.text)) SayNumber(side);
    }
  }

  // at_least(x, 0.5): the second and third argument are thresholds.
  void CheckCall() {
    const LuaToken& name = At(at_);
    if (!Is(name, "at_least") && !Is(name, "at_most") && !Is(name, "between")) return;
    if (!Is(At(at_ + 1), "(")) return;
    int depth = 0;
    for (std::size_t i = at_ + 1; i < code_.size(); ++i) {
      if (Is(code_[i], "(") || Is(code_[i], "{") || Is(code_[i], "[")) ++depth;
      if (Is(code_[i], ")") || Is(code_[i], "}") || Is(code_[i], "]")) --depth;
      if (depth == 0) return;
      const bool argument = depth == 1 && Is(code_[i], ",");
      if (argument && At(i + 1).kind == Kind::kNumber &&
          (Is(At(i + 2), ")") || Is(At(i + 2), ","))) {
        SayNumber(At(i + 1));
      }
    }
  }

  // `applies = function(f`, `detect = function(f`: f is the facts.
  void ReadParameters() {
    const LuaToken& field = At(at_);
    if (!Is(field, "applies") && !Is(field, "detect") && !Is(field, "saving")) return;
    if (!Is(At(at_ + 1), "=") || !Is(At(at_ + 2), "function") || !Is(At(at_ + 3), "(")) return;
    names_.clear();
    if (At(at_ + 4).kind == Kind::kName) names_[std::string(At(at_ + 4).text)] = "";
    inside_ = true;
  }

  // `f.copy.bytes`, or `local copy = f.copy` and then `copy.bytes`.
  void CheckFact() {
    const LuaToken& first = At(at_);
    if (!inside_ || first.kind != Kind::kName || Is(At(at_ - 1), ".")) return;
    const auto known = names_.find(std::string(first.text));
    if (known == names_.end()) return;
    std::string name = known->second;
    std::size_t end = at_ + 1;
    for (;;) {
      std::string part;
      std::size_t next = end;
      if (Is(At(end), ".") && At(end + 1).kind == Kind::kName) {
        part = At(end + 1).text;
        next = end + 2;
      } else if (Is(At(end), "[") && At(end + 1).kind == Kind::kText && Is(At(end + 2), "]")) {
        part = At(end + 1).text;
        next = end + 3;
      }
      if (part.empty()) break;
      if (!name.empty()) name += '.';
      name += part;
      end = next;
      if (IsFact(name)) break;  // what follows is a part of its value
      if (!IsGroup(name)) {
        Say(first.line,
            fmt::format("fact \"{}\" is not declared: add it to needs or optional", name),
            Near(name, declared_));
        break;
      }
    }
    const bool alone = Is(At(at_ - 1), "=") && Is(At(at_ - 3), "local");
    if (alone && IsGroup(name) && !Is(At(end), ".")) names_[std::string(At(at_ - 2).text)] = name;
  }

  bool IsFact(const std::string& name) const {
    return std::find(declared_.begin(), declared_.end(), name) != declared_.end();
  }
  bool IsGroup(const std::string& name) const {
    return std::any_of(declared_.begin(), declared_.end(),
                       [&](const std::string& fact) { return fact.starts_with(name + "."); });
  }

  const RuleInfo& rule_;
  std::vector<Error>& errors_;
  std::vector<LuaToken> code_;
  std::vector<std::string> declared_;
  std::size_t at_ = 0;
  bool inside_ = false;                       // a function was opened
  std::map<std::string, std::string> names_;  // of facts or groups of them, in the function
};

// What many runs on stand-ins have shown.
struct Seen {
  std::map<std::string, std::set<char>> evidence;  // name → 'n' number, 't' text, 'r' rows
  std::set<std::string> thresholds;                // read in some run
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

void Look(const RuleSet& rules, const RuleInfo& rule, const Facts& facts,
          std::optional<bool> comparisons, Seen& seen) {
  const RuleSet::Trial trial = rules.Try(rule, facts, comparisons);
  seen.thresholds.insert(trial.thresholds.begin(), trial.thresholds.end());
  const Verdict& verdict = trial.verdict;
  if (verdict.outcome == Outcome::kBroken && IsProof(verdict.reason)) {
    seen.errors.push_back(ErrorOf(verdict.reason, rule.path));
  }
  if (verdict.outcome != Outcome::kFired) return;
  seen.fired = true;
  for (const auto& [name, cell] : verdict.evidence) {
    seen.evidence[name].insert(std::holds_alternative<double>(cell) ? 'n' : 't');
  }
  for (const auto& [name, rows] : verdict.tables) seen.evidence[name].insert('r');
}

class TextChecker {
 public:
  TextChecker(const RuleInfo& rule, const CodeReader& code, const Seen& seen,
              std::vector<Error>& errors)
      : rule_(rule), code_(code), seen_(seen), errors_(errors) {
    for (const auto& [name, kinds] : seen.evidence) names_.push_back(name);
  }

  // Returns the evidence that no text shows and no function reads.
  std::vector<std::string> Check() {
    CheckPlaces("symptom", rule_.symptom);
    CheckPlaces("cause", rule_.cause);
    for (const Fix& fix : rule_.fixes) CheckPlaces("fixes", fix.action);
    std::vector<std::string> unshown;
    for (const auto& [name, kinds] : seen_.evidence) {
      if (!shown_.contains(name) && !kinds.contains('r') && !code_.Reads(name)) {
        unshown.push_back(name);
      }
    }
    return unshown;
  }

 private:
  void CheckPlaces(const char* field, const std::string& text) {
    for (const auto& [name, kind] : TemplatePlaces(text)) {
      shown_.insert(name);
      const std::string place = fmt::format("{{{}:{}}}", name, kind);
      const auto evidence = seen_.evidence.find(name);
      if (evidence == seen_.evidence.end()) {
        Say(field, fmt::format("{} has no evidence: it is {}", place, fmt::join(names_, ", ")),
            Near(name, names_));
      } else if (evidence->second.contains('r')) {
        Say(field, fmt::format("{}: evidence \"{}\" is rows", place, name), "");
      } else if (evidence->second.contains(IsText(kind) ? 'n' : 't')) {
        Say(field,
            fmt::format("{}: evidence \"{}\" is a {}", place, name,
                        IsText(kind) ? "number" : "text"),
            IsText(kind) ? "num, count, pct …" : fmt::format("{{{}:text}}", name));
      }
    }
  }

  void Say(const char* field, std::string what, std::string hint) {
    errors_.push_back({fmt::format("{}: {}", field, what),
                       fmt::format("{}:{}", rule_.path, code_.LineOfField(field)),
                       std::move(hint)});
  }

  const RuleInfo& rule_;
  const CodeReader& code_;
  const Seen& seen_;
  std::vector<Error>& errors_;
  std::vector<std::string> names_;
  std::set<std::string> shown_;
};

int LineOf(const Error& error) {
  const std::size_t colon = error.where.rfind(':');
  return colon == std::string::npos ? 0 : std::atoi(error.where.c_str() + colon + 1);
}

}  // namespace

RuleCheck CheckRule(const RuleSet& rules, const RuleInfo& rule) {
  RuleCheck check;
  std::vector<Error>& errors = check.problems;
  CodeReader code(rule, errors);
  code.Check();

  Seen seen;
  std::vector<Error> misspelt;  // in tests: their own check says so
  const std::vector<RuleTest> tests = rules.Tests(rule, misspelt);
  for (const RuleTest& test : tests) {
    for (const auto comparisons : {std::optional<bool>(), std::optional<bool>(true)}) {
      Look(rules, rule, MapFacts(test.facts), comparisons, seen);
    }
  }
  StandIns stand_ins(rule, rules.catalogue(), tests, code.Texts());
  for (int run = 0; run < StandIns::kRuns; ++run) {
    Look(rules, rule, MapFacts(stand_ins.Make(run)), run % 4 != 3, seen);
  }

  for (const std::string& name : rule.thresholds) {
    if (code.Reads(name) || seen.thresholds.contains(name)) continue;
    errors.push_back({fmt::format("thresholds: nothing reads \"{}\"", name),
                      fmt::format("{}:{}", rule.path, code.LineOfField("thresholds")), ""});
  }
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
