// Where the steady steps of a run begin: at one time for all of its ranks.
#pragma once

#include <optional>
#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// A slow step near the start of a capture may be a warm-up, or a wait that comes again later. Some
// ranks see which it is: those that wait for data although batches had come in time, or for other
// ranks in a program that was under way. The others go by them.
//
// By rank: since when it should count its steps as steady, on its own clock; nothing where they
// begin by then as they are, where no rank saw such a wait, or where its clock is joined to none.
// RankSummary::clock dense from 0. O(ranks + steps log steps), where a rank saw one and clocks
// differ also what AlignClocks() takes.
std::vector<std::optional<Nanos>> SteadySince(const std::vector<RankSummary>& ranks,
                                              const Knowledge& knowledge);

}  // namespace advise
