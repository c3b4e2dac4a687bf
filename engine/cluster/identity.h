// Who a rank is: from what the report says, the environment of the launcher, and the name of the
// file. What is not known stays unknown; it is never guessed from the order of files.
#pragma once

#include <string>
#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"
#include "engine/trace/tables.h"

namespace advise {

// What the report itself says of the work of `process` (kNone: not known) on `device`: its pid, its
// rank if it drives no other GPU, names and place of the GPU, host, file. O(streams).
RankSummary IdentityOf(const Trace& trace, std::uint32_t device, std::uint32_t process);

// Completes rank, local rank, world size, host, job and switches of the ranks of one report.
void IdentifyRanks(const Trace& trace, const Knowledge& knowledge, std::vector<RankSummary>* ranks);

// The rank that a file's name states ("worker3.pt.trace.json", "run_rank-03.sqlite", "r12.facts");
// -1 when it states none.
int RankInFileName(const std::string& path);

// The host that PyTorch's handler puts into the name of a trace
// ("node17_41200.1760000000000.pt.trace.json"); "" when there is none.
std::string HostInFileName(const std::string& path);

// Of names that differ in one number only ("run.0.sqlite", "run.1.sqlite"): that number of each;
// empty when there is no such number, it repeats, or it cannot be a rank of a job of so many (0:
// not known).
std::vector<int> NumberThatDiffers(const std::vector<std::string>& paths, int world);

}  // namespace advise
