// --only, --skip, --gpu and --window: names of rules, areas and GPUs, and times, checked before
// anything runs.
#pragma once

#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/knowledge/knowledge.h"
#include "engine/timeline/run.h"

namespace advise {

// True when `name` is the id of the rule or one of its areas ("transfer", "site/transfer").
bool Selects(const std::string& name, const std::string& rule_id);

// Fails on the first name that selects none of the rules, with the nearest that would.
Result<void> CheckSelection(const std::string& option, const std::vector<std::string>& names,
                            const std::vector<std::string>& rule_ids);

// The areas of these rules, each once: "transfer", "site", "site/transfer".
std::vector<std::string> AreasOf(const std::vector<std::string>& rule_ids);

// Fails on a GPU that the knowledge base does not have, with those that come near. "" is none.
Result<void> CheckGpu(const std::string& name, const Knowledge& knowledge);

// "" when `text` is a window, else what is wrong with it.
std::string CheckWindow(const std::string& text);
// The window that it is; "" is that of its own choice.
Result<WindowRequest> ParseWindow(const std::string& text);

}  // namespace advise
