// Every row of the knowledge base has a home: a rule that names it, or a fact, number, hardware
// entry or exercise that holds it. And rules explain each other without going in circles.
#include <catch2/catch.hpp>
#include <filesystem>
#include <functional>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/conventions/rule_tree.h"
#include "tests/conventions/source_tree.h"

namespace advise {
namespace {

bool IsFact(const std::string& name) {
  const auto facts = FactList(*SourceTree().knowledge);
  return std::any_of(facts.begin(), facts.end(),
                     [&](const FactInfo& fact) { return fact.name == name; });
}

// Why "fact copy.groups" is no home, or "".
std::string ProblemOf(const std::string& home) {
  const Tree& tree = SourceTree();
  const std::size_t space = home.find(' ');
  const std::string kind = home.substr(0, space);
  const std::string name = space == std::string::npos ? "" : home.substr(space + 1);
  if (kind == "fact") return IsFact(name) ? "" : "there is no such fact";
  if (kind == "number")
    return tree.knowledge->numbers().contains(name) ? "" : "there is no such number";
  if (kind == "rule") return tree.rules->Find(name) != nullptr ? "" : "there is no such rule";
  if (kind == "hardware") {
    const auto& all = tree.knowledge->hardware();
    return std::any_of(all.begin(), all.end(),
                       [&](const HardwareEntry& one) { return one.id == name; })
               ? ""
               : "there is no such GPU";
  }
  if (kind == "exercise") {
    return std::filesystem::exists(ADVISE_SOURCE_DIR "/kb/exercises/" + name + ".toml")
               ? ""
               : "there is no such exercise";
  }
  return "wanted fact, number, hardware, exercise or rule";
}

TEST_CASE("every row of the knowledge base has a home") {
  const Tree& tree = SourceTree();
  std::map<std::string, int> named;
  for (const RuleInfo& rule : tree.rules->rules()) {
    for (const std::string& id : rule.knowledge) ++named[id];
  }
  for (const SourceFile& file : SourceFiles({"kb/exercises"}, {".toml"})) {
    const std::string text = TextOf(file);
    for (const auto& [id, row] : tree.knowledge->rows()) {
      if (text.find("\"" + id + "\"") != std::string::npos) ++named[id];
    }
  }
  for (const auto& [id, row] : tree.knowledge->rows()) {
    INFO(id << ": " << row.text);
    CHECK((named[id] > 0 || !row.home.empty()));
    for (const std::string& home : row.home) {
      INFO("home " << home);
      CHECK(ProblemOf(home) == "");
    }
  }
}

TEST_CASE("what a rule says it explains exists") {
  const Tree& tree = SourceTree();
  for (const RuleInfo& rule : tree.rules->rules()) {
    for (const std::string& id : rule.explains) {
      INFO(rule.path << " explains " << id);
      CHECK(tree.rules->Find(id) != nullptr);
    }
  }
}

TEST_CASE("rules explain each other without circles") {
  const Tree& tree = SourceTree();
  std::map<std::string, int> state;  // 1 on the way, 2 done
  std::vector<std::string> way;
  const std::function<void(const RuleInfo&)> visit = [&](const RuleInfo& rule) {
    state[rule.id] = 1;
    way.push_back(rule.id);
    for (const std::string& id : rule.explains) {
      const RuleInfo* effect = tree.rules->Find(id);
      if (effect == nullptr) continue;
      std::string circle;
      for (const std::string& step : way) circle += step + " > ";
      INFO(circle << id);
      CHECK(state[id] != 1);
      if (state[id] == 0) visit(*effect);
    }
    way.pop_back();
    state[rule.id] = 2;
  };
  for (const RuleInfo& rule : tree.rules->rules()) {
    if (state[rule.id] == 0) visit(rule);
  }
}

TEST_CASE("an info explains nothing, and what is explained is claimed after its cause") {
  const Tree& tree = SourceTree();
  for (const RuleInfo& rule : tree.rules->rules()) {
    if (rule.kind == RuleKind::kInfo) {
      INFO(rule.path);
      CHECK(rule.explains.empty());
    }
    for (const std::string& id : rule.explains) {
      const RuleInfo* effect = tree.rules->Find(id);
      if (effect == nullptr || effect->kind != RuleKind::kSymptom) continue;
      INFO(rule.id << " (" << rule.priority << ") explains " << id << " (" << effect->priority
                   << ")");
      CHECK(rule.priority >= effect->priority);
    }
  }
}

// Both would win the same time. That nothing overlaps is in the trace; how quick gathers inside a
// node would be is not.
TEST_CASE("overlap that is off is told before a sharding that makes the collectives quicker") {
  const Tree& tree = SourceTree();
  const RuleInfo* overlap = tree.rules->Find("comm/overlap-disabled");
  const RuleInfo* sharding = tree.rules->Find("comm/cross-node-gather");
  REQUIRE(overlap != nullptr);
  REQUIRE(sharding != nullptr);
  CHECK(overlap->priority > sharding->priority);
}

TEST_CASE(
    "every threshold that stands in the knowledge base is used by its rule, and says why and "
    "whence") {
  const Tree& tree = SourceTree();
  for (const auto& [name, threshold] : tree.knowledge->thresholds()) {
    const std::size_t dot = name.rfind('.');
    const std::string id = name.substr(0, dot);
    const RuleInfo* rule = tree.rules->Find(id);
    INFO(name);
    CHECK(threshold.why.size() > 10);
    CHECK(threshold.source.size() > 3);
    if (rule == nullptr) {
      FAIL_CHECK("no rule " + id);
      continue;
    }
    const auto& used = rule->thresholds;
    CHECK(std::find(used.begin(), used.end(), name.substr(dot + 1)) != used.end());
  }
}

TEST_CASE("what C++ asks of kernel names is declared, and what is declared is asked for") {
  std::set<std::string> asked;
  const std::regex trait("HasTrait\\(\"([a-z-]+)\"\\)");
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    for (const std::string& line : file.lines) {
      for (std::sregex_iterator at(line.begin(), line.end(), trait), end; at != end; ++at)
        asked.insert((*at)[1]);
    }
  }
  std::set<std::string> declared;
  bool in_trait = false;
  for (const SourceFile& file : SourceFiles({"kb"}, {"kernels.toml"})) {
    for (const std::string& line : file.lines) {
      if (line.starts_with("[[")) in_trait = line == "[[trait]]";
      if (in_trait && line.starts_with("id = ")) declared.insert(line.substr(6, line.size() - 7));
    }
  }
  REQUIRE(asked.size() > 10);
  CHECK(asked == declared);
}

TEST_CASE("C++ names no rule and no area: what it asks for is a field that rules declare") {
  std::set<std::string> ids;
  for (const RuleInfo& rule : SourceTree().rules->rules()) {
    ids.insert('"' + rule.id + '"');
    ids.insert('"' + rule.id.substr(0, rule.id.find('/') + 1) + '"');
  }
  REQUIRE(ids.size() > 100);
  for (const SourceFile& file : SourceFiles({"engine"}, {".cc", ".h"})) {
    for (const std::string& whole : file.lines) {
      const std::string line = whole.substr(0, whole.find("// "));
      for (std::size_t at = line.find('"'); at != std::string::npos; at = line.find('"', at + 1)) {
        const std::size_t end = line.find('"', at + 1);
        if (end == std::string::npos) break;
        INFO(file.path << ": " << line);
        CHECK_FALSE(ids.contains(line.substr(at, end - at + 1)));
        at = end;
      }
    }
  }
}

}  // namespace
}  // namespace advise
