// The JSON report, schema version 1 (docs/report.schema.json), and the JSON form of every other
// listing. Keys stand in a fixed order and numbers print the same way every time: the same input
// gives the same bytes.
#pragma once

#include <string>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/report/rules.h"

namespace advise {

std::string RenderJson(const Report& report);

// Facts with their definitions; absent ones with the reason; `tables`: small tables too.
std::string RenderFactsJson(const std::vector<NamedFact>& facts, bool tables);

// The catalogue of facts: names, units, definitions.
std::string RenderFactCatalogJson(const std::vector<FactInfo>& catalog);

// The verdicts of one rule: what it read, compared and concluded.
std::string RenderWhyJson(const Report& report, const std::string& rule);

std::string RenderRulesJson(const std::vector<RulePage>& rules);
std::string RenderRuleJson(const RulePage& page);

}  // namespace advise
