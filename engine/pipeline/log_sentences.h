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

// Which collective never ended, and what of the network failed before it; "" where the log tells of
// no collective that the watchdog gave up.
std::string TimeoutSentence(const NcclLog& log);

// The processes of a list, and the GPU that several share.
std::string ProcessesSentence(const Monitor& monitor, const MonitorHealth& health);

// That no GPU did anything, and how much memory was in use meanwhile.
std::string WithoutWorkSentence(const MonitorSummary& monitor);

// The calls that NCCL's log lists most of, with a blank behind; "" where it lists none.
std::string CallsSentence(const NcclLog& log);

// Ports of network cards, where nothing else was listed.
std::string PortsSentence(const Topology& topology, const Paths& paths);

// How much a server had to do, and how many requests waited.
std::string ServerSentence(const ServerLoad& server);

}  // namespace advise
