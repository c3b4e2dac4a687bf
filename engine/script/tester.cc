#include "engine/script/tester.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "engine/base/template.h"
#include "engine/base/text.h"
#include "engine/script/handles.h"
#include "engine/script/test_reader.h"

namespace advise {
namespace {

constexpr double kTolerance = 1e-6;  // relative
// How far on either side of an edge the outcomes must differ.
constexpr double kBesideEdge = 0.05;

const char* WordFor(Outcome outcome) {
  switch (outcome) {
    case Outcome::kFired:
      return "fires";
    case Outcome::kFine:
      return "silent";
    case Outcome::kNotApplicable:
      return "not_applicable";
    case Outcome::kCannotTell:
      return "cannot_tell";
    case Outcome::kBroken:
      break;
  }
  return "broken";
}

bool Close(double wanted, double got) {
  return std::abs(wanted - got) <= kTolerance * std::max(std::abs(wanted), std::abs(got));
}

std::string Shown(const Cell& cell) {
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{:.15g}", *number);
  return fmt::format("\"{}\"", SafeText(std::get<std::string>(cell)));
}

bool Same(const Cell& wanted, const Cell& got) {
  const auto* number = std::get_if<double>(&wanted);
  const auto* other = std::get_if<double>(&got);
  if (number != nullptr && other != nullptr) return Close(*number, *other);
  return number == nullptr && other == nullptr && wanted == got;
}

// What a verdict says, in few words.
std::string Summary(const Verdict& verdict) {
  std::string text = WordFor(verdict.outcome);
  if (!verdict.reason.empty()) text += fmt::format(" ({})", verdict.reason);
  if (verdict.outcome == Outcome::kFired) {
    std::vector<std::string> parts;
    for (const auto& [name, cell] : verdict.evidence) {
      parts.push_back(fmt::format("{} = {}", name, Shown(cell)));
    }
    for (const auto& [name, rows] : verdict.tables) {
      parts.push_back(fmt::format("{}: {} rows", name, rows.size()));
    }
    text += fmt::format(" ({})", fmt::join(parts, ", "));
  }
  for (const Comparison& one : verdict.comparisons) {
    if (verdict.outcome == Outcome::kFine && !one.holds) {
      text += fmt::format("; {} {:.6g} {} does not hold for {:.6g}", one.what, one.threshold,
                          one.name, one.value);
    }
  }
  return text;
}

class Checker {
 public:
  Checker(const RuleInfo& rule, const RuleTest& test, const Verdict& verdict)
      : rule_(rule), test_(test), verdict_(verdict) {}

  std::vector<std::string> Check() {
    if (verdict_.outcome != test_.outcome) {
      Say(WordFor(test_.outcome), Summary(verdict_));
    } else if (verdict_.outcome == Outcome::kFired) {
      for (const auto& [name, wanted] : test_.evidence) CheckEvidence(name, wanted);
      CheckSaving();
      CheckPlaces("symptom", TemplatePlaces(rule_.symptom));
      CheckPlaces("cause", TemplatePlaces(rule_.cause));
      for (const Fix& fix : rule_.fixes) {
        CheckPlaces("action", TemplatePlaces(fix.action));
        CheckPlaces("snippet", CodePlaces(fix.snippet));
      }
    }
    return std::move(messages_);
  }

 private:
  void Say(const std::string& wanted, const std::string& got) {
    messages_.push_back(
        fmt::format("{}: test \"{}\": wanted {}, got {}", rule_.path, test_.name, wanted, got));
  }

  void CheckEvidence(const std::string& name, const Expected& wanted) {
    const auto cell = verdict_.evidence.find(name);
    const auto table = verdict_.tables.find(name);
    const bool is_table = table != verdict_.tables.end();
    if (const auto* rows = std::get_if<Rows>(&wanted)) {
      if (!is_table) return Say(name + " to be rows", Summary(verdict_));
      return CheckRows(name, *rows, table->second);
    }
    const auto* number = std::get_if<double>(&wanted);
    const Cell cell_wanted =
        number != nullptr ? Cell(*number) : Cell(std::get<std::string>(wanted));
    if (is_table && number != nullptr) {
      if (!Close(*number, static_cast<double>(table->second.size()))) {
        Say(fmt::format("{} rows in {}", *number, name), fmt::format("{}", table->second.size()));
      }
    } else if (cell == verdict_.evidence.end()) {
      Say(fmt::format("{} = {}", name, Shown(cell_wanted)), Summary(verdict_));
    } else if (!Same(cell_wanted, cell->second)) {
      Say(fmt::format("{} = {}", name, Shown(cell_wanted)), Shown(cell->second));
    }
  }

  void CheckRows(const std::string& name, const Rows& wanted, const Rows& got) {
    if (wanted.size() != got.size()) {
      return Say(fmt::format("{} rows in {}", wanted.size(), name), fmt::format("{}", got.size()));
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      for (const auto& wanted_cell : wanted[i]) {
        const std::string& column = wanted_cell.first;
        const Cell& cell = wanted_cell.second;
        const auto found = std::find_if(got[i].begin(), got[i].end(),
                                        [&](const auto& one) { return one.first == column; });
        const bool there = found != got[i].end();
        if (there && Same(cell, found->second)) continue;
        Say(fmt::format("{}[{}].{} = {}", name, i + 1, column, Shown(cell)),
            there ? Shown(found->second) : "no such column");
      }
    }
  }

  void CheckSaving() {
    const SavingClaim& saving = verdict_.saving;
    for (const auto& [name, wanted] : test_.saving) {
      const double claims =
          saving.claims == nullptr ? 0 : static_cast<double>(TotalOf(*saving.claims));
      const double got = name == "claims"   ? claims
                         : name == "part"   ? saving.part
                         : name == "remedy" ? static_cast<double>(saving.remedies.size())
                                            : saving.confidence;
      if (!Close(wanted, got)) {
        Say(fmt::format("saving.{} = {:.15g}", name, wanted), fmt::format("{:.15g}", got));
      }
    }
  }

  using Places = std::vector<std::pair<std::string, std::string>>;
  void CheckPlaces(const char* field, const Places& places) {
    for (const auto& [name, kind] : places) {
      const auto cell = verdict_.evidence.find(name);
      const std::string wanted =
          fmt::format("evidence \"{}\" for the place {{{}:{}}} of {}", name, name, kind, field);
      if (cell == verdict_.evidence.end()) {
        Say(wanted, Summary(verdict_));
      } else if (std::holds_alternative<std::string>(cell->second) != IsText(kind)) {
        Say(wanted, Shown(cell->second));
      }
    }
  }

  const RuleInfo& rule_;
  const RuleTest& test_;
  const Verdict& verdict_;
  std::vector<std::string> messages_;
};

// Each value at which the words are to change: what is wrong with it.
void CheckEdges(const RuleSet& rules, const RuleInfo& rule, const RuleTest& test,
                const Verdict& verdict, std::vector<std::string>* messages) {
  const std::string words = WordsOf(verdict);
  for (const auto& [place, at] : test.edges) {
    std::vector<std::string> sides;
    std::vector<Outcome> outcomes;
    for (const double side : {1 - kBesideEdge, 1 + kBesideEdge}) {
      auto facts = test.facts;
      SetPlace(place, at * side, &facts);
      const MapFacts changed(std::move(facts));
      const Verdict beside = rules.Run(rule, changed);
      sides.push_back(WordsOf(beside));
      outcomes.push_back(beside.outcome);
    }
    // Texts may hold numbers, which change on both sides.
    if ((sides[0] == words) != (sides[1] == words)) continue;
    if ((outcomes[0] == verdict.outcome) != (outcomes[1] == verdict.outcome)) continue;
    messages->push_back(fmt::format(
        "{}: test \"{}\": wanted another outcome or text on one side of {} = {:.6g}, got "
        "\"{}\" below and \"{}\" above",
        rule.path, test.name, place, at, sides[0], sides[1]));
  }
}

}  // namespace

std::string WordsOf(const Verdict& verdict) {
  std::string words = WordFor(verdict.outcome);
  if (verdict.outcome != Outcome::kFired) return words;
  for (const auto& [name, cell] : verdict.evidence) {
    if (const auto* text = std::get_if<std::string>(&cell)) {
      words += fmt::format(", {} = {}", name, SafeText(*text));
    }
  }
  if (verdict.saving.claims == nullptr) words += ", saves nothing";
  return words;
}

std::optional<RuleExample> ExampleOf(const RuleSet& rules, const RuleInfo& rule) {
  std::vector<Error> errors;
  for (const RuleTest& test : rules.Tests(rule, errors)) {
    if (test.outcome != Outcome::kFired) continue;
    const MapFacts facts(test.facts);
    Verdict verdict = rules.Run(rule, facts);
    if (verdict.outcome == Outcome::kFired) return RuleExample{test.name, std::move(verdict)};
  }
  return std::nullopt;
}

std::vector<TestResult> RunTests(const RuleSet& rules, const RuleInfo& rule) {
  std::vector<Error> errors;
  const std::vector<RuleTest> tests = rules.Tests(rule, errors);
  std::vector<TestResult> results;
  for (const RuleTest& test : tests) {
    const MapFacts facts(test.facts);
    const Verdict verdict = rules.Run(rule, facts);
    TestResult result;
    result.name = test.name;
    result.messages = Checker(rule, test, verdict).Check();
    CheckEdges(rules, rule, test, verdict, &result.messages);
    results.push_back(std::move(result));
  }
  for (const Error& error : errors) {
    // Named after its test, or, when the tests could not be read at all, alone.
    const auto found = std::find_if(results.begin(), results.end(), [&](const TestResult& result) {
      return error.what.rfind(fmt::format("test \"{}\": ", result.name), 0) == 0;
    });
    if (found != results.end()) {
      found->messages.push_back(error.Line());
    } else {
      results.push_back({"tests", false, {error.Line()}});
    }
  }
  for (TestResult& result : results) result.passed = result.messages.empty();
  return results;
}

}  // namespace advise
