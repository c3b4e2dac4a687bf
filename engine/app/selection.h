// --only and --skip: names of rules and areas, checked before anything runs.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"

namespace advise {

// True when `name` is the id of the rule or one of its areas ("transfer", "site/transfer").
bool Selects(const std::string& name, const std::string& rule_id);

// Fails on the first name that selects none of the rules, with the nearest that would.
Result<void> CheckSelection(const std::string& option, const std::vector<std::string>& names,
                            const std::vector<std::string>& rule_ids);

}  // namespace advise
