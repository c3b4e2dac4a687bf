// The first sentence of a report without GPU work: what logs, counters and summaries say.
#pragma once

#include <string>

#include "engine/metrics/analysis.h"

namespace advise {

// What a trace without a timeline, or without GPU work, can say instead; "" when it has both.
std::string SentenceWithoutGpuWork(const Analysis& analysis);

}  // namespace advise
