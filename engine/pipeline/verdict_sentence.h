// The first sentence of a report.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/cluster/cluster.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// The kind of run, what slows it down or that nothing does, and the next step: from the budget
// and the findings of the report. `ranks`: those that were judged each by itself and then together;
// nullptr when all GPUs are those of one rank.
std::string VerdictSentence(const Report& report, const Knowledge& knowledge, const Cluster* ranks);

// The sentence, and the next step of the report, if it has one.
std::string WithNextStep(std::string sentence, const Report& report);

}  // namespace advise
