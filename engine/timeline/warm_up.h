// Leading slow steps that are no warm-up, although they look like it.
#pragma once

#include <vector>

#include "engine/timeline/hand_over.h"
#include "engine/timeline/run.h"

namespace advise {

// Whether the capture shows the program start: code was loaded or memory allocated before the
// leading slow steps were over, and later steps do without. O(calls log steps).
bool StartsCold(const Run& run);

// A run that was under way when its capture began is warm. If its leading steps are slow because
// they wait for data or for other ranks, later ones may do so as well: they stay in the run. In the
// very first, the ranks' captures may have begun, and loaders may have unless its own batch was
// there: waits for data behind it count then. Of a program that starts, steps stay that wait for
// data although a batch had come in time before. Chooses the
// steady steps anew, and says whether they changed; the window is the caller's to choose again.
// `blocks` are those of UnrecoveredBlocks. O(ops + host events of these steps, log nesting).
bool KeepStepsThatWait(const std::vector<std::uint32_t>& blocks, const HandOvers& hand_overs,
                       Run* run);

// Other ranks of the run found that what its steps wait for from then on is no warm-up: the step
// that is under way then, and all behind it, are steady. Says whether that changed anything.
bool KeepStepsSince(Nanos since, Run* run);

}  // namespace advise
