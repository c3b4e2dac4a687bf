// Rule files named on the command line, with the rules and the knowledge they stand beside: what
// `advise rules check` and `advise rules test` work on.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/pipeline/diagnose.h"

namespace advise {

// A rule that is being written is checked against the tree it stands in (…/rules/x.lua and …/kb),
// so that a new threshold counts without a new build; elsewhere against what is shipped. Rules of a
// site (their id says so) get the site's settings; the project's own are judged as shipped.
struct RuleTree {
  std::unique_ptr<const Knowledge> knowledge;
  RuleSet rules;
  std::vector<const RuleInfo*> named;  // those of the path, in `rules`
  std::set<std::string> ids;           // theirs and all others of the tree
};

// `path`: a rule file, or a folder of them. Errors are of rules and settings.
tl::expected<RuleTree, std::vector<Error>> LoadRuleTree(const std::string& path,
                                                        const DiagnoseOptions& options);

}  // namespace advise
