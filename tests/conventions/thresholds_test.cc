// Each threshold holds something up: moved by a third, up or down, it makes a test of its rule
// fail. tests/mutation/find_edges.cc finds the edges that tests lack.
#include <catch2/catch.hpp>

#include "tests/conventions/rule_tree.h"
#include "tests/mutation/moves.h"

namespace advise {

TEST_CASE("a threshold that moves by a third makes a test of its rule fail") {
  const Tree tree;
  for (const RuleInfo& rule : tree.rules->rules()) {
    INFO(rule.path);
    REQUIRE(TestsPass(*tree.rules, rule));
    for (const std::string& name : rule.thresholds) {
      const Threshold* threshold = tree.knowledge->FindThreshold(rule.id, name);
      REQUIRE(threshold != nullptr);
      INFO(threshold->name << " = " << threshold->shipped);
      CHECK_FALSE(Survives(tree.knowledge.get(), *tree.rules, rule, *threshold, kUp));
      CHECK_FALSE(Survives(tree.knowledge.get(), *tree.rules, rule, *threshold, kDown));
    }
  }
}

}  // namespace advise
