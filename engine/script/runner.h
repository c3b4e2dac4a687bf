// All rules, loaded and checked, ready to be asked about facts.
//
// A rule is run afresh each time: nothing it computed for one run is left when it is asked about
// the next. Each rule that comes as a text has a Lua state of its own; rules that are built in,
// which the build has checked, take turns in a few. Different rules may run at the same time; one
// rule runs one at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/advice/finding.h"
#include "engine/base/error.h"
#include "engine/facts/facts.h"
#include "engine/knowledge/knowledge.h"
#include "engine/script/rule_loader.h"

namespace advise {

struct RuleTest;
struct LoadedRule;    // internal to runner.cc
class BuiltInStates;  // the same
struct RunContext;

class RuleSet {
 public:
  // Checks every file and collects all problems; what the build made ready, it has checked. A rule
  // of a site that replaces another takes its place. `shipped` says what becomes of the tests in
  // files that are not of a site; those of a site are always checked. `knowledge` (with the site's
  // settings applied) must outlive the set.
  static tl::expected<RuleSet, std::vector<Error>> Load(
      std::vector<RuleFile> files, const Knowledge& knowledge, const std::vector<FactInfo>& catalog,
      InlineTests shipped = InlineTests::kChecked);
  RuleSet(RuleSet&&) noexcept;
  RuleSet& operator=(RuleSet&&) noexcept;
  ~RuleSet();

  // Sorted by id.
  const std::vector<RuleInfo>& rules() const { return rules_; }
  const RuleInfo* Find(std::string_view id) const;
  const Knowledge& knowledge() const { return *knowledge_; }
  // The facts that rules may read.
  const FactCatalog& catalog() const { return *catalog_; }

  // What the rule says. `rule` must be of this set. Never fails: a rule that breaks
  // gives Outcome::kBroken with "file:line: reason". `facts` must live until the verdict was read.
  Verdict Run(const RuleInfo& rule, const Facts& facts) const;

  // The same for checks of the rule itself: `every_comparison` says what at_least() and its kin
  // return, whatever the values are.
  struct Trial {
    Verdict verdict;
    std::vector<std::string> thresholds;  // that were read
  };
  Trial Try(const RuleInfo& rule, const Facts& facts, std::optional<bool> every_comparison) const;

  // The thresholds that are compared without the rule's functions: with evidence, or a fact, of
  // their name.
  std::vector<std::string> DeclaredLimits(const RuleInfo& rule) const;

  // The tests in the rule's file, which is compiled anew for them; none of a rule that is built
  // into the program. Problems in how they are written go to `errors`.
  std::vector<RuleTest> Tests(const RuleInfo& rule, std::vector<Error>& errors) const;

  // A rule that was read from a text, as RuleFile::prepared takes it.
  std::string Packed(const RuleInfo& rule) const;

 private:
  RuleSet() = default;
  LoadedRule& LoadedOf(const RuleInfo& rule) const;
  void Ask(const RuleInfo& rule, RunContext& context) const;

  const Knowledge* knowledge_ = nullptr;
  std::shared_ptr<const FactCatalog> catalog_;
  std::vector<RuleInfo> rules_;
  std::vector<std::unique_ptr<LoadedRule>> loaded_;  // parallel to rules_
  std::unique_ptr<BuiltInStates> built_in_;
};

}  // namespace advise
