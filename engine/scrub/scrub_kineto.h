// A copy of a Chrome trace of PyTorch's profiler without what names a person, a machine, a place or
// a key, and with the same diagnosis. The copy is written anew, event by event: each holds the
// fields and arguments that the importer reads, numbers as they stood, texts cleaned
// (scrub_text.h). Everything else stays behind: other arguments, arrows, metadata that the user
// added.
#pragma once

#include <string>

#include "engine/scrub/scrub.h"

namespace advise {

// Reads the file twice: names of machines and people may come after their first use. `output` is
// packed when its name ends in ".gz". O(bytes); memory does not depend on the size of the file.
Result<ScrubSummary> ScrubKineto(const std::string& trace, const std::string& output);

}  // namespace advise
