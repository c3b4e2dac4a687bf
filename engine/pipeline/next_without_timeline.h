// What to do next about inputs that show no timeline, or no work on a GPU.
#pragma once

#include <string>

#include "engine/advice/report_model.h"
#include "engine/knowledge/knowledge.h"

namespace advise {

// Whether PyTorch's profiler wrote the trace, and can record more of such a program.
bool IsForTorch(const Knowledge& knowledge, const Report& report);

// PyTorch's profiler around ten rounds of the loop that the user wrote; or by the server whose loop
// it is.
std::string TorchCommand(const Knowledge& knowledge, const Report& report, const char* options);

// How to record a timeline with the profiler that wrote this one, or with nsys: what PyTorch's
// profiler is asked for beside its activities, and the options of nsys.
std::string TimelineCommand(const Knowledge& knowledge, const Report& report,
                            const char* torch_options, const std::string& nsys_options);

// rocprofv3 with the calls of HIP, copies and ranges.
inline constexpr const char* kRocprofCommand =
    "rocprofv3 --runtime-trace --output-format json -o run -- COMMAND";

// Whether a tool of AMD's wrote what was given first.
bool IsOfAmdTool(const Report& report);

// Nothing to judge: what to record instead.
void FillNextStepOfNothing(Report* report);

// Of counters without times: a timeline tells how long each kernel takes. Nothing for others.
void FillNextStepOfCounters(Report* report);

// What the rules say of logs; else, of a server, how to record a timeline.
void FillNextStepOfLogs(const Knowledge& knowledge, Report* report);

}  // namespace advise
