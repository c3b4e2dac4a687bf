// Made-up facts of the right types for the facts that a rule declares. Internal to script/.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/script/test_reader.h"

namespace advise {

class StandIns {
 public:
  static constexpr int kRuns = 64;

  // `texts`: those that the rule compares with. Rows are taken from `tests`, which know the
  // columns.
  StandIns(const RuleInfo& rule, const FactCatalog& catalog, const std::vector<RuleTest>& tests,
           std::vector<std::string> texts);

  // The facts of one run; the same each time. In every other run the optional facts are there.
  std::map<std::string, Fact, std::less<>> Make(int run) const;

 private:
  Value ValueOf(const std::string& name, unsigned draw) const;

  const RuleInfo& rule_;
  const FactCatalog& catalog_;
  std::map<std::string, Rows> rows_;
  std::vector<std::string> texts_;
};

}  // namespace advise
