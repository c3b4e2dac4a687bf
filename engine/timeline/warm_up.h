// Leading slow steps that are no warm-up, although they look like it.
#pragma once

#include <vector>

#include "engine/timeline/hand_over.h"
#include "engine/timeline/run.h"

namespace advise {

// Whether the capture shows the program start: code was loaded or memory allocated before the
// leading slow steps were over. O(calls).
bool StartsCold(const Run& run);

// A run that was under way when its capture began is warm. If its leading steps are slow because
// they wait for data or for other ranks, later ones may do so as well: they stay in the run, but
// for the very first, in which loaders and the ranks' captures may have begun. So do, of a program
// that starts, steps that wait for data although a batch had come in time before. Chooses the
// steady steps anew, and says whether they changed; the window is the caller's to choose again.
// `blocks` are those of UnrecoveredBlocks. O(ops + host events of these steps, log nesting).
bool KeepStepsThatWait(const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs,
                       Run* run);

}  // namespace advise
