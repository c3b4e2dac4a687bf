// Finds what the tests of rules lack: for each threshold that can be moved by a third without a
// failing test, a number in the facts of a test at which the outcome changes because of it. Prints
// lines of rule file, test, place and number, and of what it found nothing for.
//
//     find_edges        in the root of the source tree; tests/mutation/add_edges.py writes them
//     down
#include <cmath>
#include <cstdlib>
#include <map>
#include <memory>

#include "engine/facts/catalog.h"
#include "engine/script/test_reader.h"
#include "tests/conventions/source_tree.h"
#include "tests/mutation/moves.h"

namespace advise {
namespace {

std::vector<std::pair<std::string, double>> PlacesOf(const RuleTest& test) {
  std::vector<std::pair<std::string, double>> places;
  for (const auto& [name, fact] : test.facts) {
    if (const auto* number = std::get_if<double>(&fact.value)) places.emplace_back(name, *number);
    if (const auto* spans = std::get_if<std::shared_ptr<const Spans>>(&fact.value)) {
      places.emplace_back(name, static_cast<double>((*spans)->Total()));
      places.emplace_back(name + ".count", 1);
    }
    if (const auto* rows = std::get_if<Rows>(&fact.value)) {
      for (std::size_t i = 0; i < rows->size(); ++i) {
        for (const auto& [column, cell] : (*rows)[i]) {
          if (const auto* number = std::get_if<double>(&cell)) {
            places.emplace_back(name + "[" + std::to_string(i + 1) + "]." + column, *number);
          }
        }
      }
    }
  }
  return places;
}

struct Finder {
  Knowledge* knowledge;
  const RuleSet& rules;
  const RuleInfo& rule;
  const RuleTest& test;
  std::string place;

  bool by_words;  // else by the outcome alone: texts may hold numbers
  std::string words = Says(MapFacts(test.facts));  // of the test

  std::string Says(const MapFacts& facts) const {
    const Verdict verdict = rules.Run(rule, facts);
    return by_words ? WordsOf(verdict) : std::to_string(static_cast<int>(verdict.outcome));
  }

  bool SameAt(double value) const {
    auto facts = test.facts;
    SetPlace(place, value, &facts);
    return Says(MapFacts(std::move(facts))) == words;
  }
  bool IsEdge(double at) const { return SameAt(0.95 * at) != SameAt(1.05 * at); }

  // Values at which the outcome changes, from `begin` outwards.
  std::vector<double> Edges(double begin) const {
    std::vector<double> edges;
    for (const double factor : {0.5, 2.0}) {
      double at = begin;
      bool same = SameAt(at);
      for (int i = 0; i < 24; ++i) {
        double next = at * factor;
        if (place.ends_with(".count") && next > 3000) break;  // so many pieces take long
        const bool then = SameAt(next);
        if (then != same) {
          double low = at, high = next;
          for (int k = 0; k < 12; ++k) {
            const double middle = std::sqrt(low * high);
            (SameAt(middle) == same ? low : high) = middle;
          }
          edges.push_back(low);
        }
        at = next;
        same = then;
      }
    }
    return edges;
  }
};

double Rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return std::atof(text);
}

void Find(Knowledge* knowledge, const RuleSet& rules, const RuleInfo& rule) {
  std::vector<Error> errors;
  const std::vector<RuleTest> tests = rules.Tests(rule, errors);
  std::vector<std::vector<std::pair<std::string, std::vector<double>>>> edges(tests.size());
  bool searched = false;
  for (const std::string& name : rule.thresholds) {
    const Threshold* threshold = knowledge->FindThreshold(rule.id, name);
    if (threshold == nullptr) continue;
    bool up = Survives(knowledge, rules, rule, *threshold, kUp);
    bool down = Survives(knowledge, rules, rule, *threshold, kDown);
    if (!up && !down) continue;
    if (!searched) {
      searched = true;
      for (std::size_t i = 0; i < tests.size(); ++i) {
        for (const auto& [place, begin] : PlacesOf(tests[i])) {
          std::vector<double> all;
          for (const bool by_words : {false, true}) {
            const Finder finder{knowledge, rules, rule, tests[i], place, by_words};
            for (const double edge : finder.Edges(begin > 0 ? begin : 1.0)) {
              if (finder.IsEdge(Rounded(edge))) all.push_back(Rounded(edge));
            }
          }
          std::sort(all.begin(), all.end());
          all.erase(std::unique(all.begin(), all.end()), all.end());
          edges[i].emplace_back(place, all);
        }
      }
    }
    // The edge that notices most, of the first test that has one.
    for (int turn = 0; turn < 2 && (up || down); ++turn) {
      int best = 0;
      std::string line;
      bool best_up = false, best_down = false;
      for (std::size_t i = 0; i < tests.size(); ++i) {
        for (const auto& [place, all] : edges[i]) {
          const Finder by_outcome{knowledge, rules, rule, tests[i], place, false};
          const Finder by_words{knowledge, rules, rule, tests[i], place, true};
          for (const double edge : all) {
            bool gone_up = false, gone_down = false;
            for (const auto& [factor, gone] : {std::pair{kUp, &gone_up}, {kDown, &gone_down}}) {
              const auto value = Moved(*threshold, factor);
              if (!value) continue;
              const OtherValue other(knowledge, *threshold, *value);
              *gone = !by_outcome.IsEdge(edge) && !by_words.IsEdge(edge);
            }
            const int gain = (up && gone_up ? 1 : 0) + (down && gone_down ? 1 : 0);
            if (gain <= best) continue;
            best = gain;
            best_up = gone_up;
            best_down = gone_down;
            char number[32];
            std::snprintf(number, sizeof number, "%.3g", edge);
            line = rule.path + "\t" + tests[i].name + "\t" + place + "\t" + number + "\t" + name;
          }
        }
      }
      if (best == 0) break;
      std::printf("edge\t%s\n", line.c_str());
      up = up && !best_up;
      down = down && !best_down;
    }
    if (up || down) {
      std::printf("none\t%s\t%s\t%s\n", rule.path.c_str(), threshold->name.c_str(),
                  up && down ? "both ways"
                  : up       ? "up"
                             : "down");
    }
    std::fflush(stdout);
  }
}

}  // namespace
}  // namespace advise

int main() {
  using namespace advise;
  std::vector<Knowledge::File> kb;
  std::vector<RuleFile> files;
  const auto text_of = [](const SourceFile& file) {
    std::string text;
    for (const std::string& line : file.lines) text += line + "\n";
    return text;
  };
  for (const SourceFile& file : FilesBelow(".", {"kb"}, {".toml"})) {
    kb.push_back({file.path, text_of(file)});
  }
  for (const SourceFile& file : FilesBelow(".", {"rules"}, {".lua"})) {
    const bool rule =
        file.path.find("/_") == std::string::npos && file.path.find("/lib/") == std::string::npos;
    if (rule) files.push_back({file.path, text_of(file), false});
  }
  auto knowledge = Knowledge::Load(kb);
  if (!knowledge) return 1;
  const auto rules = RuleSet::Load(files, *knowledge, FactList(*knowledge));
  if (!rules) {
    for (const Error& error : rules.error()) std::fprintf(stderr, "%s\n", error.Line().c_str());
    return 1;
  }
  for (const RuleInfo& rule : rules->rules()) Find(&*knowledge, *rules, rule);
}
