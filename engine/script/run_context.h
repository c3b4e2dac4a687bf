// What one call of a rule reads from and writes to. Internal to script/.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/facts/facts.h"
#include "engine/knowledge/knowledge.h"

struct lua_State;

namespace advise {

// The facts that a rule declares, as the tree that `f` shows.
struct FactNode {
  std::string path;                                       // "copy.pageable"; empty at the root
  std::map<std::string, FactNode, std::less<>> children;  // by the next part of the name
  const FactInfo* fact = nullptr;                         // of a leaf
  bool is_optional = false;
};

struct RunContext {
  const Facts& facts;
  const Knowledge& knowledge;
  Verdict& verdict;
  std::vector<const Threshold*> thresholds_read;  // in order
  bool needs_missing = false;                     // a need was absent: the outcome is "cannot tell"
  std::optional<bool> every_comparison;           // what they come to, of a trial on stand-ins

  // The fact, recorded as read; nullptr when it is absent (which is recorded, too).
  const Fact* Read(const FactInfo& info);
  // Records a comparison for `advise why`; returns whether it holds.
  bool Compare(const char* what, double value, double threshold, double upper, bool holds);
  // Makes the verdict "cannot tell" when some of `needs` are absent; false when all are there.
  bool FindMissing(const std::vector<const FactInfo*>& needs);
};

// The threshold `name` of a rule; a rule of the site that replaces another may use the thresholds
// of that one.
const Threshold* ThresholdOf(const Knowledge& knowledge, const RuleInfo& rule,
                             std::string_view name);

// Pushes `f` and `t`. The tree must outlive the state.
void InstallFactTree(lua_State* state);
void PushFacts(lua_State* state, const FactNode& root);
void PushThresholds(lua_State* state);

}  // namespace advise
