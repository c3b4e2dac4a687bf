// The JSON report, schema version 2 (docs/report.schema.json), and the JSON form of every other
// listing. Keys stand in a fixed order and numbers print the same way every time: the same input
// gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/report/rules.h"

namespace advise {

struct JsonOptions {
  bool facts = false;  // with the facts of the run
  int top = -1;        // only the first findings; -1: all
};
std::string RenderJson(const Report& report, const JsonOptions& options = {});

// What one screen of a coding agent holds: the verdict, what was captured, and for each finding
// what it saves and what to do. `limit` in bytes; findings are left out from the last on, and the
// number of those is said. 0: no limit, and no fixes (--quiet).
inline constexpr std::size_t kBriefBytes = 4096;
std::string RenderBriefJson(const Report& report, int top, std::size_t limit);

// Facts with their definitions; absent ones with the reason; `tables`: small tables too.
std::string RenderFactsJson(const std::vector<NamedFact>& facts, bool tables);

// The catalog of facts: names, units, definitions.
std::string RenderFactCatalogJson(const std::vector<FactInfo>& catalog);

// The verdicts of one rule: what it read, compared and concluded.
std::string RenderWhyJson(const Report& report, const std::string& rule);

std::string RenderRulesJson(const std::vector<RulePage>& rules,
                            const std::vector<SiteSource>& sources);
std::string RenderRuleJson(const RulePage& page);

}  // namespace advise
