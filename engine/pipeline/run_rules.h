// Asks the rules of a session about facts.
#pragma once

#include <string>
#include <vector>

#include "engine/facts/catalog.h"
#include "engine/facts/facts.h"
#include "engine/pipeline/diagnose.h"

namespace advise {

// Rules that compare ranks, and all others: of several ranks, the first kind is asked of all of
// them together, the second of each by itself.
enum class Asked : std::uint8_t { kAll, kAboutRanks };

// Verdicts of the rules that the options choose, by rule id. `day`: "2026-11-20", for rules that
// the site switched off up to a date: that of the capture, so that an old report reads the same
// tomorrow.
std::vector<Verdict> RunRules(const Session& session, const DiagnoseOptions& options, Asked asked,
                              const Facts& facts, const std::string& day);

// Whether --only and --skip leave a rule in.
bool Chosen(const RuleInfo& rule, const DiagnoseOptions& options);

// The facts that these rules may read.
FactNames FactsReadBy(const Session& session, const DiagnoseOptions& options);

// Whether a rule compares ranks: what single ranks say of it does not count in a run of several.
bool AboutRanks(const RuleInfo& rule);

// Of the verdicts of a rule on several ranks, the one with the most weight stands for all.
int Weight(Outcome outcome);

}  // namespace advise
