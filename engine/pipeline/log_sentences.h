// The first sentence of a report on logs alone.
#pragma once

#include <cstddef>
#include <string>

#include "engine/metrics/analysis.h"

namespace advise {

// How busy the GPUs were, at which power, and what the log holds beside that: GPUs without work,
// and time before the work that a share of it must not hide. `at_work`: GPUs that did something,
// `busy`: the share of the time in which they did.
std::string MonitorSentence(const Analysis& analysis, std::size_t at_work, double busy);

// What the log of the kernel names, where no other log was given.
std::string KernelLogSentence(const Monitor& monitor);

// How much a server had to do, and how many requests waited.
std::string ServerSentence(const ServerLoad& server);

}  // namespace advise
