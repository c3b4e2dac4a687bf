// How several reports belong together. Ranks of a job run the same program at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/cluster/rank_summary.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Says why they cannot be, naming two of them; "" when nothing speaks against it. Job ids and world
// sizes that differ, hardly a kernel in common, or recordings far apart in time. O(ranks x
// kernels).
std::string DifferentRuns(const std::vector<RankSummary>& ranks, const Knowledge& knowledge);

// The ranks that are another capture of the same work: an export of the same report, say. By rank,
// the earlier rank of another file that it repeats; kNone for none, and where reports say that they
// are different ranks. O(ranks log ranks).
std::vector<std::uint32_t> SameCaptures(const std::vector<RankSummary>& ranks);

// The ranks whose process and GPU another file shows, too, as when a profiler records several
// windows of one program, or a capture was cut into pieces: they are no ranks beside each other. By
// rank, that of the file that shows most, of those with a loop if there are any; kNone for none.
// O(ranks log ranks).
std::vector<std::uint32_t> OtherWindows(const std::vector<RankSummary>& ranks,
                                        const Knowledge& knowledge);

// Reports whose processes compute on one GPU at the same time, as under MPS: each shows its own
// part of what the GPU does, and takes the rest for idle. `of_report` holds the ranks of each.
// Groups of two reports and more, each in ascending order; none of those of which UTC or the GPU's
// UUID is not known, that show the same process, or that are of different runs. O(ranks^2) of one
// GPU.
std::vector<std::vector<std::size_t>> ReportsOfOneGpu(
    const std::vector<std::vector<RankSummary>>& of_report, const Knowledge& knowledge);

}  // namespace advise
