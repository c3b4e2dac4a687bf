// What a report answers beside its findings: what was captured, and how well its kernels run.
#pragma once

#include <array>
#include <vector>

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"
#include "engine/trace/idle_cause.h"

namespace advise {

// From the facts of a report of one trace: its kind, and how well its kernels run.
void FillRun(Report* report);

// Of what has no timeline: a server's log names the server, and so what it is written in. Kernels
// that are known by their counters alone are the program's own where none is of a framework or
// library.
void FillLanguages(const Knowledge& knowledge, Report* report);

// Of several parts: the kind that most of them are of, and the least efficiency.
void FillRunOfParts(const std::vector<const Report*>& parts, Report* report);

// Time of all devices of a report, in ns.
struct TimeOfDevices {
  double compute = 0, comm = 0, copy = 0, idle = 0, all = 0;
  std::array<double, kIdleCauseCount> causes{};  // of the idle time
};
TimeOfDevices TimeOf(const Report& report);

// No finding above info, no risk, and kernels that were measured and run well for most of their
// time. Needs findings, devices and efficiency.
bool IsHealthy(const Report& report, const Knowledge& knowledge);

// The first finding that somebody can act on; null where there is none.
const Finding* FirstAdvice(const Report& report);

// What is only told of a topic; null where there is no such note.
const Finding* NoteOf(const Report& report, Topic topic);

// Whether the GPUs wait for little, whatever runs on them.
bool LosesNothingBetweenKernels(const Report& report, const Knowledge& knowledge);

// Whether all that the GPUs did was to copy and clear memory, and no finding is about that.
bool RanNoKernel(const Report& report);

// Most of the kernel time goes into kernels that run as well as those of good libraries.
bool RunsAsWellAsLibraries(const Report& report, const Knowledge& knowledge);

// Part of a file could not be read.
bool IsDamaged(const Report& report);

// Sizes of operators were recorded, but not which GPU they ran on.
bool OnlyPeaksAreMissing(const Report& report);

// Whether the kernels take most of the time, nobody measured how well they run, and what was found
// wins little: then measuring them comes next.
bool LeavesKernelsUnmeasured(const Report& report, const Knowledge& knowledge);

// Whether the GPUs idle mostly because the program waits for its next request or command.
bool WaitsForInput(const Report& report);

// Whether half of the idle time or more is that of a fact, which is a mean over the GPUs.
bool IsMostOfIdleTime(const Report& report, const char* fact);

// Whether the idle time is mostly before work that waits for what began before the recording: the
// GPU may have been busy with it, and the program has no part in that.
bool BeginsAmidWork(const Report& report);

// Whether the idle time is mostly inside graphs, where the profiler lost kernels.
bool LosesKernelsOfGraphs(const Report& report);

}  // namespace advise
