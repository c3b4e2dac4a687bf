#include "engine/grade/exercise.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "engine/base/ascii.h"
#include "engine/base/is_in.h"
#include "engine/base/text.h"
#include "engine/grade/quantity.h"
#include "engine/knowledge/toml_reader.h"

namespace advise {
namespace {

using Need = TomlReader::Need;

class ExerciseReader {
 public:
  ExerciseReader(const std::string& path, const std::vector<FactInfo>& facts,
                 const std::vector<std::string>& rules)
      : reader_(path, errors_), facts_(facts), rules_(rules) {}

  Exercise Read(const TomlNode& root) {
    Exercise exercise;
    reader_.OnlyFields(root, {"id", "title", "task", "handout", "baseline", "pass_share",
                              "knowledge", "criterion"});
    exercise.id = reader_.Text(root, "id");
    exercise.title = reader_.Text(root, "title");
    exercise.task = reader_.Text(root, "task");
    exercise.handout = reader_.Text(root, "handout", Need::kMay);
    exercise.baseline = reader_.Text(root, "baseline", Need::kMay);
    if (root.Find("pass_share") != nullptr) {
      exercise.pass_share = reader_.Number(root, "pass_share");
    }
    if (exercise.pass_share < 0 || exercise.pass_share > 1) {
      reader_.Problem(*root.Find("pass_share"), "pass_share: wanted a share of the points, 0 to 1");
    }
    if (exercise.baseline.find("..") != std::string::npos || exercise.baseline.starts_with("/")) {
      reader_.Problem(root, "baseline: wanted a path below the exercise's folder");
    }
    exercise.knowledge = reader_.Texts(root, "knowledge", Need::kMay);
    const TomlNode* list = root.Find("criterion");
    if (list == nullptr || list->kind != TomlNode::Kind::kArray || list->items.empty()) {
      reader_.Problem(root, "wanted at least one [[criterion]]");
      return exercise;
    }
    std::set<std::string> ids;
    for (const TomlNode& node : list->items) {
      if (!reader_.WantTable(node)) continue;
      Criterion one = ReadCriterion(node);
      if (!ids.insert(one.id).second) {
        reader_.Problem(node, "two criteria are called \"" + one.id + "\"");
      }
      exercise.criteria.push_back(std::move(one));
    }
    return exercise;
  }

  std::vector<Error> Errors() { return std::move(errors_); }

 private:
  Criterion ReadCriterion(const TomlNode& node) {
    Criterion one;
    reader_.OnlyFields(
        node, {"id",      "kind",   "ask",     "points", "on",      "fact",     "or_fact",
               "or_says", "expect", "unit",    "scale",  "choices", "yes_when", "absent",
               "present", "steps",  "at_most", "good",   "bad",     "hints",    "knowledge"});
    one.id = reader_.Text(node, "id");
    const bool plain =
        std::all_of(one.id.begin(), one.id.end(), [](char c) { return IsWordChar(c) || c == '-'; });
    if (!plain) reader_.Problem(node, "id: wanted letters, digits, \"_\" and \"-\"");
    const std::string kind = reader_.Choice(
        node, "kind", {"answer", "choice", "finding", "fact", "improvement", "person"});
    one.kind = kind == "choice"        ? CriterionKind::kChoice
               : kind == "finding"     ? CriterionKind::kFinding
               : kind == "fact"        ? CriterionKind::kFact
               : kind == "improvement" ? CriterionKind::kImprovement
               : kind == "person"      ? CriterionKind::kPerson
                                       : CriterionKind::kAnswer;
    one.ask = reader_.Text(node, "ask");
    one.points = reader_.Number(node, "points");
    if (one.points <= 0) reader_.Problem(node, "points: wanted more than 0");
    const bool of_run = one.kind == CriterionKind::kFinding || one.kind == CriterionKind::kFact ||
                        one.kind == CriterionKind::kImprovement;
    one.on = of_run ? RunRole::kSubmission : RunRole::kBaseline;
    if (node.Find("on") != nullptr) {
      one.on = reader_.Choice(node, "on", {"baseline", "submission"}) == "baseline"
                   ? RunRole::kBaseline
                   : RunRole::kSubmission;
    }
    one.fact = reader_.Text(node, "fact", Need::kMay);
    one.or_fact = reader_.Text(node, "or_fact", Need::kMay);
    one.or_says = reader_.Text(node, "or_says", Need::kMay);
    one.unit = reader_.Text(node, "unit", Need::kMay);
    if (node.Find("scale") != nullptr) one.scale = reader_.Number(node, "scale");
    if (const TomlNode* expect = node.Find("expect"); expect != nullptr) {
      if (expect->kind == TomlNode::Kind::kNumber) {
        one.expect = expect->number;
      } else {
        one.expect_text = reader_.Text(node, "expect");
      }
    }
    one.choices = reader_.Texts(node, "choices", Need::kMay);
    one.yes_when = Rules(node, "yes_when");
    one.absent = Rules(node, "absent");
    one.present = Rules(node, "present");
    if (node.Find("at_most") != nullptr) one.at_most = reader_.Flag(node, "at_most");
    ReadSteps(node, &one);
    const bool person = one.kind == CriterionKind::kPerson;
    one.good = reader_.Text(node, "good", person ? Need::kMay : Need::kMust);
    one.bad = reader_.Text(node, "bad", person ? Need::kMay : Need::kMust);
    one.hints = reader_.Texts(node, "hints", person ? Need::kMay : Need::kMust);
    if (!person && one.hints.size() != 4) {
      reader_.Problem(node, "hints: wanted four: symptom, where to look, cause, fix");
    }
    one.knowledge = reader_.Texts(node, "knowledge", Need::kMay);
    Check(node, one);
    return one;
  }

  std::vector<std::string> Rules(const TomlNode& node, std::string_view field) {
    std::vector<std::string> list = reader_.Texts(node, field, Need::kMay);
    for (const std::string& rule : list) {
      if (IsIn(rule, rules_)) continue;
      reader_.Problem(*node.Find(field), fmt::format("{}: there is no rule \"{}\"", field, rule),
                      Suggestion(rule, rules_));
    }
    return list;
  }

  void ReadSteps(const TomlNode& node, Criterion* one) {
    const TomlNode* steps = node.Find("steps");
    if (steps == nullptr) return;
    const bool list = steps->kind == TomlNode::Kind::kArray;
    for (const TomlNode& step : list ? steps->items : std::vector<TomlNode>()) {
      const bool pair = step.kind == TomlNode::Kind::kArray && step.items.size() == 2 &&
                        step.items[0].kind == TomlNode::Kind::kNumber &&
                        step.items[1].kind == TomlNode::Kind::kNumber && step.items[1].number > 0 &&
                        step.items[1].number <= 1;
      if (!pair) {
        reader_.Problem(step, "steps: wanted [bound, share of the points], the share above 0");
        continue;
      }
      one->steps.emplace_back(step.items[0].number, step.items[1].number);
      const std::size_t n = one->steps.size();
      if (n > 1 && one->steps[n - 1].second >= one->steps[n - 2].second) {
        reader_.Problem(step, "steps: wanted falling shares, the best first");
      }
    }
  }

  const FactInfo* FactOf(const TomlNode& node, const char* field, const std::string& name) {
    const auto found = std::find_if(facts_.begin(), facts_.end(),
                                    [&](const FactInfo& info) { return info.name == name; });
    if (found != facts_.end()) return &*found;
    std::vector<std::string> names;
    for (const FactInfo& info : facts_) names.push_back(info.name);
    reader_.Problem(*node.Find(field), fmt::format("{}: there is no fact \"{}\"", field, name),
                    Suggestion(name, names));
    return nullptr;
  }

  // What only the fields together tell.
  void Check(const TomlNode& node, const Criterion& one) {
    const FactInfo* fact = one.fact.empty() ? nullptr : FactOf(node, "fact", one.fact);
    const FactInfo* other = one.or_fact.empty() ? nullptr : FactOf(node, "or_fact", one.or_fact);
    const auto want = [&](bool holds, const char* what) {
      if (!holds) reader_.Problem(node, what);
    };
    switch (one.kind) {
      case CriterionKind::kAnswer:
        want(!one.fact.empty() != one.expect.has_value(), "an answer needs \"fact\" or \"expect\"");
        want(!one.steps.empty(), "an answer needs \"steps\": [largest relative error, share]");
        if (fact != nullptr && fact->unit == "name") {
          want(false, "a fact that is a text is asked for with kind = \"choice\"");
        }
        if (fact != nullptr && !one.unit.empty() && !UnitsFit(one.unit, fact->unit)) {
          want(false, "the unit does not fit the fact's");
        }
        if (fact != nullptr && other != nullptr) {
          want(fact->unit == other->unit, "fact and or_fact are of different units");
        }
        want(one.or_fact.empty() == one.or_says.empty(), "or_fact and or_says go together");
        break;
      case CriterionKind::kChoice:
        want(one.choices.size() >= 2, "a choice needs two \"choices\" or more");
        want((!one.fact.empty() ? 1 : 0) + (!one.expect_text.empty() ? 1 : 0) +
                     (!one.yes_when.empty() ? 1 : 0) ==
                 1,
             "a choice needs one of \"fact\", \"expect\", \"yes_when\"");
        if (!one.expect_text.empty()) {
          want(IsIn(one.expect_text, one.choices), "expect is none of the choices");
        }
        if (!one.yes_when.empty()) {
          want(one.choices == std::vector<std::string>{"yes", "no"},
               "with \"yes_when\" the choices are \"yes\" and \"no\"");
        }
        break;
      case CriterionKind::kFinding:
        want(one.absent.empty() != one.present.empty(),
             "a finding needs \"absent\" or \"present\"");
        break;
      case CriterionKind::kFact:
        want(!one.fact.empty() && !one.steps.empty(), "a fact needs \"fact\" and \"steps\"");
        break;
      case CriterionKind::kImprovement:
        want(!one.steps.empty(), "an improvement needs \"steps\": [speedup, share]");
        break;
      case CriterionKind::kPerson:
        break;
    }
  }

  std::vector<Error> errors_;
  TomlReader reader_;
  const std::vector<FactInfo>& facts_;
  const std::vector<std::string>& rules_;
};

}  // namespace

double Exercise::Points() const {
  double points = 0;
  for (const Criterion& one : criteria) points += one.points;
  return points;
}

tl::expected<Exercise, std::vector<Error>> ReadExercise(const std::string& path,
                                                        const std::string& text,
                                                        const std::vector<FactInfo>& facts,
                                                        const std::vector<std::string>& rules) {
  const Result<TomlNode> root = ParseToml(path, text);
  if (!root) return tl::unexpected(std::vector<Error>{root.error()});
  ExerciseReader reader(path, facts, rules);
  Exercise exercise = reader.Read(*root);
  std::vector<Error> errors = reader.Errors();
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return exercise;
}

std::string AnswerSheet(const Exercise& exercise) {
  std::string sheet = "# " + exercise.title +
                      "\n# Write your answers between the quotes, numbers with their unit.\n";
  for (const Criterion& one : exercise.criteria) {
    if (one.kind != CriterionKind::kAnswer && one.kind != CriterionKind::kChoice) continue;
    sheet += "\n# " + one.ask;
    if (!one.choices.empty()) sheet += fmt::format(" ({})", fmt::join(one.choices, ", "));
    if (one.choices.empty() && !one.unit.empty()) sheet += " (" + one.unit + ")";
    sheet += "\n" + one.id + " = \"\"\n";
  }
  return sheet;
}

}  // namespace advise
