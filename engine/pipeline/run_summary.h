// The words of a run of several ranks.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/cluster/cluster.h"
#include "engine/facts/facts.h"

namespace advise {

// Fills Report::ranks from the facts of several ranks; leaves it alone when there is one rank.
void FillRanks(const Facts& facts, Report* report);

// The first sentence of the report: which rank or what all of them wait for.
std::string RunVerdictSentence(const Cluster& cluster, const Report& report);

}  // namespace advise
